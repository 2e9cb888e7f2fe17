/**
 * The TLS certificate of the API and the authorities of accepted client certificates: read from
 * files, and read again when they change.
 *
 * <p>{@link dev.bourse.edge.tls.TlsConfig} has the paths of the files; {@link
 * dev.bourse.edge.tls.ClientCertificates} the rules for clients; {@link
 * dev.bourse.edge.tls.Renewal} the material in use.
 *
 * <p>Over TLS, too, only HTTP/1.1 is supported. Rejected for now: HTTP/2, because the limits of
 * connections (see {@link dev.bourse.edge.limits}) assume that a connection waits for one thing at
 * a time, and a connection with many streams waits for many.
 *
 * <p>A client certificate only admits the connection; the token identifies the caller. Rejected:
 * certificates in place of tokens, which could not be narrowed to scopes, and certificate
 * revocation lists, which are one more file that may be outdated; to revoke a certificate, use
 * short lifetimes or replace the authority.
 */
@NullMarked
package dev.bourse.edge.tls;

import org.jspecify.annotations.NullMarked;
