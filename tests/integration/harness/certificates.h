/* SPDX-License-Identifier: BSD-3-Clause */

/* certificates.h - an authority, and the certificates that servers and clients have of it.
 *
 *     const char *at = certificates();
 *     int port = server_free_port();
 *     server_start(.config = certificates_lines(at, "address", port, "no"));
 *     database_start(.tcp = true, .certificates = at); */

#ifndef CERTIFICATES_H
#define CERTIFICATES_H

/* A folder, which goes with the test: ca.crt has made address.crt, of 127.0.0.1; named.crt,
 * of bulwark.example; local.crt, of localhost; and client.crt; but not other.crt. Each has
 * its key beside it. */
const char *certificates(void);

/* Of a server's configuration: it speaks TLS at `port`, too, has that certificate, and
 * whether it wants one of its clients: yes, no. */
const char *certificates_lines(const char *at, const char *name, int port,
                               const char *clients);

#endif
