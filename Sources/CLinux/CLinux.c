#include "CLinux.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int swb_drop_new_connections(int fd) {
    // socket(7), SO_ATTACH_FILTER; the filter of a TCP socket sees the packet from its TCP header on. The flags are in
    // its byte 13 (RFC 9293 section 3.1); 0x02 is SYN. What returns 0 drops the packet.
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

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

int swb_pin_to_cpu(int cpu) {
    // The system call itself: the library's function and its types need _GNU_SOURCE.
    enum { wordBits = 8 * sizeof(unsigned long) };
    unsigned long mask[1024 / wordBits] = {0};
    if (cpu < 0 || cpu >= 1024) {
        errno = EINVAL;
        return -1;
    }
    mask[cpu / wordBits] = 1ul << (cpu % wordBits);
    return (int)syscall(SYS_sched_setaffinity, 0, sizeof mask, mask) < 0 ? -1 : 0;
}

int swb_set_slice(unsigned us) {
    // The structure of sched_setattr(2), which the C library does not declare.
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes;
    // What an operator has chosen stays, as a policy or a nice value; only the fair policies have slices.
    enum { other = 0, batch = 3 };
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return -1;
    if (attributes.policy != other && attributes.policy != batch) return 0;
    attributes.runtime = us * UINT64_C(1000);
    return (int)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

int swb_window_size(int fd, unsigned short *columns, unsigned short *rows) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0) return -1;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return 0;
}
