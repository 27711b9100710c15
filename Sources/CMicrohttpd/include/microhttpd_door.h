#pragma once
#include <microhttpd.h>

/// What the daemon calls back; each gets `context` as its first argument.
struct firemount_httpd_callbacks {
    void *context;
    MHD_AccessHandlerCallback access;
    MHD_RequestCompletedCallback completed;
    void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
};

/// MHD_start_daemon, which is variadic, on a socket that listens already. Targets are handed over as they arrived:
/// nothing is unescaped. NULL if the daemon cannot start; errno says why.
struct MHD_Daemon *firemount_httpd_start(
    int listening_socket, unsigned threads, unsigned connections, size_t memory_per_connection,
    const struct firemount_httpd_callbacks *callbacks);

/// The socket of a connection (MHD_get_connection_info is variadic).
int firemount_httpd_socket(struct MHD_Connection *connection);
