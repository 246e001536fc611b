"""x"""
class Suspects: pass
def suspects(): pass
