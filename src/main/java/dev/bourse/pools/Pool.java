package dev.bourse.pools;

import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a market for one site and GPU class. Prices are in cents per GPU-hour. {@link #with}
 * returns a pool with other terms.
 *
 * @param name the pool's name
 * @param provider the node provider of its machines: {@code simulated} or {@code ssh}
 * @param hardware the GPUs of its nodes
 * @param bounds its reserve price and its cap
 * @param rules the rules of its market
 * @param pause the operator's pause of its market; null without one
 * @param environment the site as tenants see it
 */
public record Pool(
    String name,
    String site,
    String provider,
    Hardware hardware,
    Bounds bounds,
    Rules rules,
    @Nullable Pause pause,
    Environment environment) {

  public Pool {
    if (hardware.gpusPerNode < 1 || bounds.reserveCents < 0 || bounds.capCents < 0) {
      throw new IllegalArgumentException(
          "pool %s has %s GPUs per node, reserve price %s and cap %s; expected at least 1, 0 and 0"
              .formatted(name, hardware.gpusPerNode, bounds.reserveCents, bounds.capCents));
    }
    if (rules.noticeMillis != null && rules.noticeMillis < 0) {
      throw new IllegalArgumentException(
          "pool %s has a notice of %s ms: must not be negative"
              .formatted(name, rules.noticeMillis));
    }
  }

  /**
   * The GPUs of a node.
   *
   * @param gpuModel the GPU class; null if not set
   * @param gpusPerNode GPUs in one node, at least 1
   */
  public record Hardware(String gpuVendor, @Nullable String gpuModel, int gpusPerNode) {}

  /**
   * The prices between which a market clears.
   *
   * @param reserveCents the reserve price, the lowest clearing price
   * @param capCents the highest ceiling that a write may have
   */
  public record Bounds(long reserveCents, long capCents) {}

  /**
   * The rules of a market.
   *
   * @param detectorArmed true if the market decides {@code capacity_unavailable}
   * @param swapsEnabled true if nodes can be swapped
   * @param selfService true if members may create clusters
   * @param tenants the rights of tenants on its machines
   * @param noticeMillis the length of the notice before nodes are reclaimed for a rival, from 0 to
   *     an hour; null for the service's setting
   */
  public record Rules(
      boolean detectorArmed,
      boolean swapsEnabled,
      boolean selfService,
      Tenants tenants,
      @Nullable Long noticeMillis) {}

  public String gpuVendor() {
    return hardware.gpuVendor;
  }

  public @Nullable String gpuModel() {
    return hardware.gpuModel;
  }

  public int gpusPerNode() {
    return hardware.gpusPerNode;
  }

  public long reserveCents() {
    return bounds.reserveCents;
  }

  public long capCents() {
    return bounds.capCents;
  }

  public boolean detectorArmed() {
    return rules.detectorArmed;
  }

  public boolean swapsEnabled() {
    return rules.swapsEnabled;
  }

  public boolean selfService() {
    return rules.selfService;
  }

  public Tenants tenants() {
    return rules.tenants;
  }

  public @Nullable Long noticeMillis() {
    return rules.noticeMillis;
  }

  /** Returns a copy with some fields changed. */
  public Pool with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return new Pool(
        draft.name,
        site,
        provider,
        draft.hardware,
        draft.bounds,
        draft.rules,
        draft.pause,
        draft.environment);
  }

  /** The parts of a pool that a change may set. */
  public static final class Draft {
    private String name;
    private Hardware hardware;
    private Bounds bounds;
    private Rules rules;
    private @Nullable Pause pause;
    private Environment environment;

    private Draft(Pool base) {
      this.name = base.name;
      this.hardware = base.hardware;
      this.bounds = base.bounds;
      this.rules = base.rules;
      this.pause = base.pause;
      this.environment = base.environment;
    }

    public Draft name(String other) {
      name = other;
      return this;
    }

    public Draft hardware(Hardware other) {
      hardware = other;
      return this;
    }

    public Draft bounds(long reserveCents, long capCents) {
      bounds = new Bounds(reserveCents, capCents);
      return this;
    }

    public Draft rules(Rules other) {
      rules = other;
      return this;
    }

    public Draft pause(@Nullable Pause other) {
      pause = other;
      return this;
    }

    public Draft environment(Environment other) {
      environment = other;
      return this;
    }
  }

  /** The rights of tenants on a machine. */
  public enum Tenants {
    /** A login without root rights; a machine on which it could become root is rejected. */
    LOGIN,
    /** Root rights; each machine gets a new image after each tenant. */
    ROOT;

    /** Returns its name in contracts and files. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the rights with this name. */
    public static Tenants of(String label) {
      for (Tenants tenants : values()) {
        if (tenants.label().equals(label)) {
          return tenants;
        }
      }
      throw new IllegalArgumentException("expected login or root");
    }
  }

  /**
   * An operator's pause of the market.
   *
   * @param sinceMillis when it began
   * @param by the actor that paused the market first
   * @param reason the reason, which tenants see
   */
  public record Pause(long sinceMillis, String by, String reason) {}

  /** True if its market is paused, so that it grants and reclaims nothing. */
  public boolean isPaused() {
    return pause != null;
  }

  /**
   * The site as tenants see it.
   *
   * @param sshUser the login of tenants
   * @param sshPort the port of the nodes' SSH servers
   * @param env environment variables set on nodes
   * @param storage storage paths by purpose
   */
  public record Environment(
      String sshUser, int sshPort, Map<String, String> env, Map<String, String> storage) {}
}
