package dev.bourse.capacity;

/**
 * What a cluster asks for.
 *
 * @param maxGpus GPUs wanted, a multiple of the pool's gpus_per_node
 * @param ceilingCents the most it pays per GPU-hour
 * @param pricedAtMillis since when this ceiling stands, for the tie between equal bids
 * @param updatedAtMillis when it was last declared
 * @param updatedBy the actor
 */
public record Declaration(
    int maxGpus, long ceilingCents, long pricedAtMillis, long updatedAtMillis, String updatedBy) {
  public Declaration {
    if (maxGpus < 0 || ceilingCents < 0) {
      throw new IllegalArgumentException(
          "%s GPUs are declared at %s cents; neither can be negative"
              .formatted(maxGpus, ceilingCents));
    }
  }
}
