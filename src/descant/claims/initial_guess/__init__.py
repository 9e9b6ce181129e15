"""The claims of Xie et al. 2025, one module each; every module here is found by itself."""
