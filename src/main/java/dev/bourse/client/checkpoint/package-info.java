/** {@code bourse checkpoint}: files and folders sent and fetched by hand or by scripts. */
@NullMarked
package dev.bourse.client.checkpoint;

import org.jspecify.annotations.NullMarked;
