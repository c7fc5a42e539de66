#include "CLinux.h"

#include <fcntl.h>
#include <unistd.h>

int swb_spawn(const char *program, char *const arguments[], int output) {
    pid_t parent = getpid();
    pid_t child = fork();
    if (child != 0) return child;
    // Only async-signal-safe calls from here: other threads may have held any lock at the fork.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // A terminal's Ctrl-C goes to the whole group; the child ends when its parent has drained, not before.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    if (getppid() != parent) _exit(126);
    int input = open("/dev/null", O_RDONLY);
    if (input >= 0) dup2(input, 0);
    dup2(output, 1);
    dup2(output, 2);
    execvp(program, arguments);
    _exit(127);
}
