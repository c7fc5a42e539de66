// What the Glibc module of the toolchain leaves out. Do not define _GNU_SOURCE here: it makes clang's modules
// disagree on fd_set, so the two calls that need it are declared by hand.
#ifndef SWITCHBOARD_CLINUX_H
#define SWITCHBOARD_CLINUX_H

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/un.h>

// accept4(2); the GNU extension that sets SOCK_NONBLOCK and SOCK_CLOEXEC atomically.
extern int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);

// malloc_trim(3) of glibc; Swift's module has no <malloc.h>.
extern int malloc_trim(size_t pad);

// SOCK_, EFD_ and EPOLL_ flags are enum constants of different types; on Linux they are these same two bits.
static const int SWB_NONBLOCK = 04000;
static const int SWB_CLOEXEC = 02000000;

// prctl(2) is variadic, which Swift cannot call.
static inline int swb_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

static inline int swb_errno(void) { return errno; }

// epoll_ctl(2) with the token in the 64-bit data field.
static inline int swb_epoll_ctl(int epoll, int operation, int fd, uint32_t events, uint64_t token) {
    struct epoll_event event;
    event.events = events;
    event.data.u64 = token;
    return epoll_ctl(epoll, operation, fd, &event);
}

static inline uint64_t swb_event_token(const struct epoll_event *event) { return event->data.u64; }
static inline uint32_t swb_event_mask(const struct epoll_event *event) { return event->events; }

// Lets a listening TCP socket drop the packets that open new connections (SYN), and no others. They are sent again a
// second later; until then those that were opened before can all be accepted, so that none is reset when the listener
// closes. 0, or -1 with errno.
int swb_drop_new_connections(int fd);

// Starts a program whose output goes to the descriptor `output`, in a process that is ended (SIGTERM) with its parent,
// whatever ends the parent. Returns the process id, or -1 with errno. fork(2) cannot be called from Swift.
int swb_spawn(const char *program, char *const arguments[], int output);

// Lets the calling thread, and those it starts, run on one CPU only (sched_setaffinity(2)). 0, or -1 with errno.
int swb_pin_to_cpu(int cpu);

// How long the calling thread runs at most before others have their turn, 100 to 100,000 microseconds: a thread that
// wakes with a shorter slice goes before one that is running (sched(7), Linux 6.12). It changes nothing before that
// release, nor under a real-time policy. 0, or -1 with errno.
int swb_set_slice(unsigned us);

// The size of a terminal in characters (tty_ioctl(4)); ioctl(2) is variadic. 0, or -1 with errno.
int swb_window_size(int fd, unsigned short *columns, unsigned short *rows);

#endif
