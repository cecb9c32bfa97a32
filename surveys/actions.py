"""What the desk may do to a study, as named in the audit log. What participants do is never logged one by one."""

from audit.actions import register

STUDY_CREATED = register("study.created", "A study was created or imported")
STUDY_CHANGED = register("study.changed", "The draft definition of a study was changed")
MEDIA_ADDED = register("study.media_added", "A video, captions or poster file was added to a study")
CODES_ADDED = register("study.codes_added", "Personal entry codes were added to a study")
CODES_OPENED = register("study.codes_opened", "The page of a study's codes was opened; one entry for each person and day")
CODES_CHECKED = register("study.codes_checked", "Completion codes that students handed in were checked")
STUDY_EXPORTED = register("study.exported", "A study was written as a study file")
SUBMITTED = register("study.submitted", "A protocol was frozen and submitted for review")
APPROVED = register("study.approved", "A protocol was approved")
RETURNED = register("study.returned", "A study went back to draft")
LAUNCHED = register("study.launched", "A study was launched and the hash of its allocation list published")
PAUSED = register("study.paused", "Recruiting was paused")
RESUMED = register("study.resumed", "Recruiting was resumed")
CLOSED = register("study.closed", "A study was closed and its allocation list published")
ARCHIVED = register("study.archived", "A study was archived")
ALLOCATION_EXTENDED = register("study.allocation_extended", "A further allocation list was drawn because the first was used up")
ALLOCATION_FETCHED = register("study.allocation_fetched", "Somebody of the staff downloaded a published allocation list")
ARM_CHANGED = register("study.arm_changed", "The quota of an arm was changed, or the arm was closed or opened")
BOTS_SENT = register("study.bots_sent", "Simulated participants were sent through a study")
