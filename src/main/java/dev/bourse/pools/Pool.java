package dev.bourse.pools;

import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A market's terms: one site and GPU class. Prices in cents per GPU-hour. {@link #with} makes a
 * pool of other terms.
 *
 * @param name the pool's name
 * @param provider which node provider runs its machines: {@code simulated} or {@code ssh}
 * @param hardware what its nodes are made of
 * @param bounds its lowest and its highest price
 * @param rules what is allowed and judged in its market
 * @param pause why its market grants and takes nothing; null while it goes on
 * @param environment what a tenant needs to know of the site
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
   * @param gpuModel the GPU class; null while none is set
   * @param gpusPerNode GPUs in one node, at least 1
   */
  public record Hardware(String gpuVendor, @Nullable String gpuModel, int gpusPerNode) {}

  /**
   * The prices between which a market clears.
   *
   * @param reserveCents under this nothing clears
   * @param capCents the highest ceiling accepted on a write
   */
  public record Bounds(long reserveCents, long capCents) {}

  /**
   * What is allowed and judged in a market.
   *
   * @param detectorArmed whether {@code capacity_unavailable} is judged here
   * @param swapsEnabled whether nodes can be swapped here
   * @param selfService whether members may make clusters here
   * @param tenants what rights tenants have on its machines
   * @param noticeMillis how long before nodes are taken back for a rival their holders are told,
   *     from 0 to an hour; null for as long as the service's setting says
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

  /** Returns a copy with some of it changed. */
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

  /** A pool being changed, part by part; what is not set stays. */
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

  /** What rights tenants have on a machine. */
  public enum Tenants {
    /** A login without root rights; a machine on which it could become root is refused. */
    LOGIN,
    /** Root rights; each machine gets a new image after each tenant. */
    ROOT;

    /** As contracts and files spell it. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The one that contracts spell so. */
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
   * An operator's halt of the market.
   *
   * @param sinceMillis since when
   * @param by the actor who paused it first
   * @param reason why, in words that tenants read
   */
  public record Pause(long sinceMillis, String by, String reason) {}

  /** Whether its market grants and takes nothing. */
  public boolean isPaused() {
    return pause != null;
  }

  /**
   * What a tenant needs to know of a site.
   *
   * @param sshUser who tenants log in as
   * @param sshPort where the nodes' ssh servers listen
   * @param env environment variables set on nodes
   * @param storage storage paths by purpose
   */
  public record Environment(
      String sshUser, int sshPort, Map<String, String> env, Map<String, String> storage) {}
}
