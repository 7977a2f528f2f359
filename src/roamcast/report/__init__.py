"""Results of campaigns for people: answers, figures, verdicts, and the HTML page."""
