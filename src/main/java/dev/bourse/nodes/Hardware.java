package dev.bourse.nodes;

import org.jspecify.annotations.Nullable;

/**
 * The hardware that a pool promises its tenants, for checks of a machine.
 *
 * @param gpus GPUs of one machine, at least 1
 * @param model the GPU's model in free text, such as {@code H100 80GB}; null for any. The first
 *     word with a digit must occur in the driver's product name; a word such as {@code 80GB} is the
 *     memory
 */
public record Hardware(int gpus, @Nullable String model) {
  public Hardware {
    if (gpus < 1) {
      throw new IllegalArgumentException(gpus + " GPUs: must be at least 1");
    }
  }
}
