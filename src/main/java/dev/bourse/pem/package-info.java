/**
 * Certificates and their keys in PEM files of operators and members.
 *
 * <p>{@link dev.bourse.pem.PemFile} is one file; {@link dev.bourse.pem.CertificatePair} is a
 * certificate with its key, from two files. A fault of a file is a {@link
 * dev.bourse.pem.PemException}, which names the file and never shows its content.
 */
@NullMarked
package dev.bourse.pem;

import org.jspecify.annotations.NullMarked;
