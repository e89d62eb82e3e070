"""What a sandbox sees of an assignment's checks: callable inputs by name, and ways to call an answer."""
