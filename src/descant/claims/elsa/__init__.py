"""The claims of Hagiwara 2025, one module each; every module here is found by itself."""
