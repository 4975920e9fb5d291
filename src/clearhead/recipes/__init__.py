"""Complete runs, and the text they are about.

dates/    dates in English and Chinese: unlimited parallel text whose word order crosses
"""
