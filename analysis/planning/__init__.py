"""The design page: what a study can be expected to find, before anybody is recruited. Numbers come from `candor.planning.power`."""
