"""The one place that starts, watches and ends the processes of agent CLIs."""
