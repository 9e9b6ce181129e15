"""What no paper says: facts that fell out of Descant itself, judged like the others and counted apart."""
