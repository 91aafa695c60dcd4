"""Who did what, when, why and from where: lines that are only ever added."""
