"""The Redis that a case of bench/weight_cases.py fills: the same filling again is restored as it was."""

#: Keys as a filling left them, by its code and count: most cases fill Redis alike.
DUMPS = {}


class Site:
    """What a case works with; `without` is what the measured call takes besides the script itself, microseconds."""

    def __init__(self, db, commands, scripts):
        self.db = db
        self.commands = commands
        self.scripts = scripts
        self.without = 0

    def fill(self, function, count):
        """Runs `function(pipeline, n)` for many n in few round trips; the same again restores the keys as they were."""
        made = None if function.__closure__ else (function.__code__, function.__defaults__, count)
        if made in DUMPS and not self.db.exists(*DUMPS[made]):
            with self.db.pipeline(transaction=False) as pipe:
                for key, value in DUMPS[made].items():
                    pipe.restore(key, 0, value)
                pipe.execute()
            return
        keys = set()
        with self.db.pipeline(transaction=False) as pipe:
            for number in range(count):
                function(pipe, number)
                if number == 0 and made and (self.db.exists(*named(pipe)) or not named(pipe)):
                    made = None
                if number % 1_000 == 999 or number == count - 1:
                    keys |= named(pipe)
                    pipe.execute()
        # Few large keys are worth it, and only those of which all commands are known.
        if made and len(keys) <= 4:
            DUMPS[made] = {key: self.db.dump(key) for key in keys}


def named(pipe):
    """The keys of the commands that a pipeline holds."""
    return {command[0][1] for command in pipe.command_stack}
