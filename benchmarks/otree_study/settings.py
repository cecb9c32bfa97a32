"""oTree's settings of the study that `benchmarks.otree` walks through."""

SESSION_CONFIGS = [{"name": "journey", "app_sequence": ["journey"], "num_demo_participants": 1}]
SESSION_CONFIG_DEFAULTS = {"real_world_currency_per_point": 1.0, "participation_fee": 0.0}
LANGUAGE_CODE = "en"
REAL_WORLD_CURRENCY_CODE = "USD"
ADMIN_USERNAME = "admin"
SECRET_KEY = "benchmark"
