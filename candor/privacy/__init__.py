"""Central privacy: losses, noise on whole numbers, and what every mechanism must prove. docs/analytics.md explains it."""
