"""An attribute of a global Python object."""


class Settings:
    size = 3


settings = Settings()


def main(x: int):
    return settings.size

# error: CompilationError
# attribute lookup is not defined on python value of type 'Settings':
#   File "global_object_attribute.py", line 12
# def main(x: int):
#     return settings.size
#            ~~~~~~~~~~~~~ <--- HERE
