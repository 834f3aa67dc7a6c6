"""The engines that run agents: four CLIs, model servers, and the scripted demo."""
