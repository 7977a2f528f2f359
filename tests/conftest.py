from hypothesis import settings

# A busy machine makes no example wrong: time is measured in bench/, not here.
settings.register_profile("roamcast", deadline=None)
settings.load_profile("roamcast")
