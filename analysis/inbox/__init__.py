"""What waits for a member of staff: protocols, amendments, releases and approvals together, on one page and at one address of the API."""
