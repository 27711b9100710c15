// slowlink: a loopback TCP relay that makes a local server behave like a distant one.
//
//   slowlink LISTEN_PORT TARGET_PORT DELAY_MS [MBPS_PER_CONNECTION] [RESET_EVERY_BYTES]
//
// Every byte is held DELAY_MS in each direction (so a request/response costs 2 x DELAY_MS, and a
// new TCP connection costs nothing extra beyond its first request). MBPS_PER_CONNECTION caps each
// direction of each connection in 10^6 bytes/s (0: no cap), the way one TCP stream to a cloud bucket
// is capped. RESET_EVERY_BYTES cuts a connection with RST after that many relayed bytes (0: never).
// Listens on 127.0.0.1 only. Prints "ready" once it accepts. Stops on SIGTERM or SIGINT.
//
// Build: cc -O2 -o slowlink slowlink.c
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 128 * 1024, MAX_EVENTS = 256 };
static const size_t WINDOW = 16u << 20;  // bytes in flight a direction, like a tuned TCP window

struct chunk { struct chunk *next; double due; size_t len, off; char data[]; };
struct pipe_ { int from, to; struct chunk *head, *tail; size_t queued; double free_at; int eof, shut; };
struct conn {
  struct pipe_ p[2];
  int fd[2], connecting, dead;
  uint64_t relayed;
  struct conn *next;
  uint32_t want[2];
};
struct ref { struct conn *c; int side; };

static double delay_s, rate; static uint64_t reset_every; static int ep; static struct conn *conns;
static volatile sig_atomic_t stop;
static void on_stop(int s) { (void)s; stop = 1; }
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void watch(struct conn *c, int side) {  // ask for exactly the events that can make progress
  uint32_t w = 0; struct pipe_ *in = &c->p[side], *out = &c->p[!side];
  if (!in->eof && in->queued < WINDOW) w |= EPOLLIN;
  if ((side == 1 && c->connecting) || (out->head && out->head->due <= now())) w |= EPOLLOUT;
  if (w == c->want[side]) return;
  c->want[side] = w;
  struct ref *r = (struct ref *)((char *)c + sizeof *c) + side;
  struct epoll_event e = { .events = w, .data.ptr = r };
  epoll_ctl(ep, EPOLL_CTL_MOD, c->fd[side], &e);
}
static void drop(struct conn *c, int rst) {
  if (c->dead) return;
  c->dead = 1;
  for (int i = 0; i < 2; i++) {
    if (rst) { struct linger l = {1, 0}; setsockopt(c->fd[i], SOL_SOCKET, SO_LINGER, &l, sizeof l); }
    close(c->fd[i]);
    for (struct chunk *k = c->p[i].head; k;) { struct chunk *n = k->next; free(k); k = n; }
    c->p[i].head = c->p[i].tail = NULL;
  }
}
static void pull(struct conn *c, int side) {
  struct pipe_ *p = &c->p[side];
  while (p->queued < WINDOW && !p->eof) {
    struct chunk *k = malloc(sizeof *k + CHUNK);
    ssize_t n = read(c->fd[side], k->data, CHUNK);
    if (n < 0) { free(k); if (errno == EAGAIN || errno == EINTR) return; drop(c, 1); return; }
    if (n == 0) { free(k); p->eof = 1; return; }
    double t = now(), start = p->free_at > t ? p->free_at : t;
    p->free_at = rate > 0 ? start + n / rate : start;
    k->due = p->free_at + delay_s; k->len = n; k->off = 0; k->next = NULL;
    if (p->tail) p->tail->next = k; else p->head = k;
    p->tail = k; p->queued += n;
  }
}
static void push(struct conn *c, int side) {  // write what is due for fd[side]
  struct pipe_ *p = &c->p[!side]; double t = now();
  while (p->head && p->head->due <= t) {
    struct chunk *k = p->head;
    ssize_t n = send(c->fd[side], k->data + k->off, k->len - k->off, MSG_NOSIGNAL);
    if (n < 0) { if (errno == EAGAIN || errno == EINTR) return; drop(c, 1); return; }
    k->off += n; p->queued -= n; c->relayed += n;
    if (reset_every && c->relayed >= reset_every) { drop(c, 1); return; }
    if (k->off < k->len) return;
    p->head = k->next; if (!p->head) p->tail = NULL; free(k);
  }
  if (p->eof && !p->head && !p->shut) {
    p->shut = 1;
    shutdown(c->fd[side], SHUT_WR);
    if (c->p[side].eof && !c->p[side].head) drop(c, 0);
  }
}
int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: slowlink LISTEN_PORT TARGET_PORT DELAY_MS [MBPS_PER_CONNECTION] [RESET_EVERY_BYTES]\n");
    return 2;
  }
  int lp = atoi(argv[1]), tp = atoi(argv[2]);
  delay_s = atof(argv[3]) / 1000;
  rate = argc > 4 ? atof(argv[4]) * 1e6 : 0;
  reset_every = argc > 5 ? strtoull(argv[5], 0, 10) : 0;
  signal(SIGTERM, on_stop); signal(SIGINT, on_stop); signal(SIGPIPE, SIG_IGN);
  int ls = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  setsockopt(ls, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in a = {
    .sin_family = AF_INET, .sin_port = htons(lp), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
  };
  if (bind(ls, (void *)&a, sizeof a) || listen(ls, 1024)) { perror("slowlink: listen"); return 1; }
  ep = epoll_create1(0);
  struct epoll_event e = { .events = EPOLLIN, .data.ptr = NULL };
  epoll_ctl(ep, EPOLL_CTL_ADD, ls, &e);
  puts("ready"); fflush(stdout);
  while (!stop) {
    double t = now(), soonest = t + 1;
    for (struct conn *c = conns; c; c = c->next) for (int i = 0; i < 2; i++) {
      // What became due since push() looked has no EPOLLOUT to wake us: it must not be slept over.
      int unwatched = !(c->want[!i] & EPOLLOUT) && !(i == 0 && c->connecting);
      struct chunk *head = c->p[i].head;
      if (head && head->due < soonest && (head->due > t || unwatched)) soonest = head->due;
    }
    double d = soonest > t ? soonest - t : 0;
    struct timespec ts = { .tv_sec = (time_t)d, .tv_nsec = (long)((d - (time_t)d) * 1e9) };
    struct epoll_event ev[MAX_EVENTS];
    int n = epoll_pwait2(ep, ev, MAX_EVENTS, &ts, NULL);
    for (int i = 0; i < n; i++) {
      struct ref *r = ev[i].data.ptr;
      if (!r) {
        int fd;
        while ((fd = accept4(ls, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
          int up = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
          setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
          setsockopt(up, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
          a.sin_port = htons(tp);
          int rc = connect(up, (void *)&a, sizeof a);
          if (rc && errno != EINPROGRESS) { close(fd); close(up); continue; }
          struct conn *c = calloc(1, sizeof *c + 2 * sizeof(struct ref));
          c->fd[0] = fd; c->fd[1] = up; c->connecting = rc != 0;
          struct ref *rr = (struct ref *)((char *)c + sizeof *c);
          for (int s = 0; s < 2; s++) {
            rr[s] = (struct ref){c, s};
            struct epoll_event x = { .events = 0, .data.ptr = &rr[s] };
            epoll_ctl(ep, EPOLL_CTL_ADD, c->fd[s], &x);
          }
          c->next = conns; conns = c;
        }
        continue;
      }
      struct conn *c = r->c;
      if (c->dead) continue;
      if (r->side == 1 && c->connecting && (ev[i].events & (EPOLLOUT | EPOLLERR | EPOLLHUP))) {
        int err = 0; socklen_t l = sizeof err; getsockopt(c->fd[1], SOL_SOCKET, SO_ERROR, &err, &l);
        if (err) { drop(c, 1); continue; }
        c->connecting = 0;
      }
      if (ev[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) pull(c, r->side);
    }
    for (struct conn **pp = &conns; *pp;) {
      struct conn *c = *pp;
      if (!c->dead) push(c, 0);
      if (!c->dead && !c->connecting) push(c, 1);
      if (c->dead) { *pp = c->next; free(c); continue; }
      watch(c, 0); watch(c, 1); pp = &c->next;
    }
  }
  return 0;
}
