"""The claims of Zhang, Wu, Bartlett 2024, one module each; every module here is found by itself."""
