/**
 * The certificate with which the API speaks TLS by itself, and the authorities whose certificates
 * it takes of clients: read from files, and read again when they change.
 *
 * <p>{@link dev.bourse.edge.tls.TlsConfig} says where the files are; {@link
 * dev.bourse.edge.tls.ClientCertificates} is what is demanded of clients; {@link
 * dev.bourse.edge.tls.Renewal} holds what is in use.
 *
 * <p>Over TLS, too, HTTP/1.1 alone is spoken. Rejected for now: HTTP/2, for the limits on
 * connections (see {@link dev.bourse.edge.limits}) take a connection to wait for one thing at a
 * time, and a connection with many streams waits for many.
 *
 * <p>A client's certificate only lets its connection in: who calls is told by the token. Rejected:
 * certificates in place of tokens, which could not be narrowed to scopes, and lists of revoked
 * certificates, which are one more file to be late; to take a certificate back, let it be short or
 * change the authority.
 */
@NullMarked
package dev.bourse.edge.tls;

import org.jspecify.annotations.NullMarked;
