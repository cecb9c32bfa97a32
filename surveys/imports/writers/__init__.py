"""Background questions as files of other programs, with a reason for all that those cannot say."""
