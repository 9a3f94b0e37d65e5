"""A global Python object as a value."""


class Settings:
    pass


settings = Settings()


def main(x: int):
    return settings

# error: CompilationError
# python value of type 'Settings' cannot be used as a value. Perhaps it is a closed over global variable? If so, please consider passing it in as an argument or use a local variable instead.:
#   File "global_object.py", line 12
# def main(x: int):
#     return settings
#            ~~~~~~~~ <--- HERE
