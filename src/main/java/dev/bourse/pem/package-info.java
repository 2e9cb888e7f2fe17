/**
 * Certificates and their keys as operators and members have them: files in PEM.
 *
 * <p>{@link dev.bourse.pem.PemFile} is one file; {@link dev.bourse.pem.CertificatePair} is a
 * certificate with its key, out of two. What is wrong with a file is a {@link
 * dev.bourse.pem.PemFault}, which names it and never shows what is in it.
 */
@NullMarked
package dev.bourse.pem;

import org.jspecify.annotations.NullMarked;
