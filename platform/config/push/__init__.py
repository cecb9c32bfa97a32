"""The process that holds the connections of open pages and tells them of news."""
