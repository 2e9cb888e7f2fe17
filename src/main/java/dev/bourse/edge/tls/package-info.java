/**
 * The certificate with which the API speaks TLS by itself: read from two files, and read again when
 * they change.
 *
 * <p>{@link dev.bourse.edge.tls.CertificatePair} is a certificate with its key; {@link
 * dev.bourse.edge.tls.TlsConfig} says where both are; {@link dev.bourse.edge.tls.Renewal} holds the
 * pair in use.
 *
 * <p>Over TLS, too, HTTP/1.1 alone is spoken. Rejected for now: HTTP/2, for the limits on
 * connections (see {@link dev.bourse.edge.limits}) take a connection to wait for one thing at a
 * time, and a connection with many streams waits for many.
 */
@NullMarked
package dev.bourse.edge.tls;

import org.jspecify.annotations.NullMarked;
