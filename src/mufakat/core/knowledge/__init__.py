"""Rules of finding: questions, rankings, topics, what a skill or a document is."""
