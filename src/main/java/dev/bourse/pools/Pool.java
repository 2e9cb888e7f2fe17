package dev.bourse.pools;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A market's terms: one site and GPU class. Prices in cents per GPU-hour.
 *
 * @param name the pool's name
 * @param provider which node provider runs its machines: {@code simulated} or {@code ssh}
 * @param gpuModel the GPU class; null while none is set
 * @param gpusPerNode GPUs in one node
 * @param reserveCents under this nothing clears
 * @param capCents the highest ceiling accepted on a write
 * @param detectorArmed whether {@code capacity_unavailable} is judged here
 * @param swapsEnabled whether nodes can be swapped here
 * @param selfService whether members may make clusters here
 * @param tenants what rights tenants have on its machines
 * @param noticeMillis how long before nodes are taken back for a rival their holders are told, from
 *     0 to an hour; null for as long as the service's setting says
 * @param pause why its market grants and takes nothing; null while it goes on
 * @param environment what a tenant needs to know of the site
 */
public record Pool(
    String name,
    String site,
    String provider,
    String gpuVendor,
    @Nullable String gpuModel,
    int gpusPerNode,
    long reserveCents,
    long capCents,
    boolean detectorArmed,
    boolean swapsEnabled,
    boolean selfService,
    Tenants tenants,
    @Nullable Long noticeMillis,
    @Nullable Pause pause,
    Environment environment) {

  public Pool {
    if (gpusPerNode < 1 || reserveCents < 0 || capCents < 0) {
      throw new IllegalArgumentException(
          "pool %s has %s GPUs per node, reserve price %s and cap %s; expected at least 1, 0 and 0"
              .formatted(name, gpusPerNode, reserveCents, capCents));
    }
    if (noticeMillis != null && noticeMillis < 0) {
      throw new IllegalArgumentException(
          "pool %s has a notice of %s ms: must not be negative".formatted(name, noticeMillis));
    }
  }

  /** A pool whose tenants have a login without root rights. */
  public Pool(
      String name,
      String site,
      String provider,
      String gpuVendor,
      @Nullable String gpuModel,
      int gpusPerNode,
      long reserveCents,
      long capCents,
      boolean detectorArmed,
      boolean swapsEnabled,
      boolean selfService,
      @Nullable Long noticeMillis,
      @Nullable Pause pause,
      Environment environment) {
    this(
        name,
        site,
        provider,
        gpuVendor,
        gpuModel,
        gpusPerNode,
        reserveCents,
        capCents,
        detectorArmed,
        swapsEnabled,
        selfService,
        Tenants.LOGIN,
        noticeMillis,
        pause,
        environment);
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
