"""The shapes of requests and answers, as the API document shows them."""
