"""Choosing the constants of a spec by the modelled makespan; `driver/tune.py` puts the parts together."""
