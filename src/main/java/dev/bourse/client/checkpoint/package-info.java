/** {@code bourse checkpoint}: sends and fetches files and folders. */
@NullMarked
package dev.bourse.client.checkpoint;

import org.jspecify.annotations.NullMarked;
