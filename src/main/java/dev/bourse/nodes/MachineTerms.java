package dev.bourse.nodes;

import org.jspecify.annotations.Nullable;

/**
 * The pool's terms that a provider needs: the hardware to check, the rights of tenants, and the ids
 * of a tenant's login.
 *
 * @param gpus GPUs of one machine, at least 1
 * @param model the GPU's model in free text, such as {@code H100 80GB}; null for any. The first
 *     word with a digit must occur in the driver's product name; a word such as {@code 80GB} is the
 *     memory
 * @param hasRootTenants true if tenants may become root; otherwise a machine is rejected if the
 *     tenant's login can become root on it
 * @param ids the ids of the login in a grant; null outside of grants, and for machines that need
 *     none
 */
public record MachineTerms(
    int gpus, @Nullable String model, boolean hasRootTenants, @Nullable LoginIds ids) {
  public MachineTerms {
    if (gpus < 1) {
      throw new IllegalArgumentException(gpus + " GPUs: must be at least 1");
    }
  }

  /** Terms of a pool whose tenants have a login without root rights. */
  public MachineTerms(int gpus, @Nullable String model) {
    this(gpus, model, false, null);
  }

  /** Returns the terms of a grant. */
  public MachineTerms with(LoginIds granted) {
    return new MachineTerms(gpus, model, hasRootTenants, granted);
  }
}
