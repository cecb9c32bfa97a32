"""The design page: the expected findings of a study, before anybody is recruited. Numbers come from `candor.planning.power`."""
