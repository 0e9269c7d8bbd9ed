"""The HTTP service: routes, problem documents and the composition root. FastAPI lives here and nowhere below.

What belongs here: paths, query parameters, headers, media types, status codes. What does not: decisions (services),
the shape of bodies (documents) and anything that a second surface would need as well.
"""
