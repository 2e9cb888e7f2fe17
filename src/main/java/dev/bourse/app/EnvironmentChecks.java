package dev.bourse.app;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.s3.S3Config;
import dev.bourse.doctor.Check;
import dev.bourse.doctor.DatabaseCheck;
import dev.bourse.doctor.DiskCheck;
import dev.bourse.doctor.KeyChecks;
import dev.bourse.doctor.ProcessChecks;
import dev.bourse.doctor.ServerChecks;
import dev.bourse.doctor.TenantChecks;
import dev.bourse.edge.limits.ProcessLimits;
import dev.bourse.edge.tls.TlsConfig;
import dev.bourse.store.transfer.WholeStore;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * The checks of {@code bourse doctor} on the environment of a service, besides all rows of its
 * store.
 */
public final class EnvironmentChecks {
  /** The check that opens the store, on which those of {@link #behindStore} depend. */
  public static final String DATABASE = "database";

  private final Config config;
  private final Clock clock;
  private final Callable<WholeStore> opening;
  private final ServerChecks servers;
  private volatile boolean isStoreOpened;

  /**
   * @param timeout the longest wait for one connection or answer
   */
  public EnvironmentChecks(Config config, Clock clock, Duration timeout) {
    this.config = config;
    this.clock = clock;
    this.opening =
        () -> {
          WholeStore store = StoreOpening.whole(config, WholeStore.Purpose.LOOK);
          isStoreOpened = true;
          return store;
        };
    this.servers = new ServerChecks(clock, timeout);
  }

  /** The checks that need only the settings. */
  public List<Check> checks() {
    return List.of(
        new Check(
            DATABASE,
            new DatabaseCheck(
                config.data().resolve(StoreOpening.EMBEDDED.rows()),
                config.postgres(),
                opening,
                clock)),
        new Check("disk", new DiskCheck(config.data(), BlobConfig.defaults().reserveBytes())),
        new Check(
            "data folder",
            notes -> {
              if (!Files.isDirectory(config.data())) {
                notes.skip("there is none yet; serve makes it for its user alone");
                return;
              }
              List<String> wider = DataFolder.wider(config.data());
              wider.forEach(path -> notes.warn(path, ""));
              if (wider.isEmpty()) {
                notes.see("others on this machine cannot look into it");
              }
            }),
        ProcessChecks.openFiles(
            ProcessLimits.maxFiles(),
            config.edge().limits().room().connections(),
            config.checkpoints().openFiles()),
        ProcessChecks.proxies(config.edge()),
        config
            .edge()
            .tls()
            .map(
                tls ->
                    new KeyChecks(opening, clock)
                        .certificate(
                            tls,
                            Stream.of(config.edge().tls(), config.management().tls())
                                .flatMap(port -> port.flatMap(TlsConfig::clients).stream())
                                .toList()))
            .orElseGet(() -> without("certificate", "tls.cert is not set")),
        objects("object store", Optional.of(config.blobs().store())),
        objects("former object store", config.blobs().former()),
        config
            .mail()
            .smtp()
            .map(servers::mail)
            .orElseGet(
                () ->
                    without(
                        "mail",
                        "mail.smtp.host is not set: mails are files in "
                            + config.data().resolve("outbox"))),
        config
            .scim()
            .map(servers::directory)
            .orElseGet(() -> without("directory", "directory.kind is local")),
        config
            .signIn()
            .oidc()
            .map(servers::provider)
            .orElseGet(() -> without("identity provider", "signin.oidc.issuer is not set")),
        config
            .ssh()
            .map(ServerChecks::machines)
            .orElseGet(() -> without("machines", "nodes.ssh.identity-file is not set")));
  }

  private Check objects(String name, Optional<BlobSettings.Place> place) {
    if (!config.checkpoints().enabled()) {
      return without(name, "checkpoints.enabled is false");
    }
    Optional<S3Config> objects = place.flatMap(BlobSettings.Place::objects);
    return objects
        .map(store -> servers.objects(name, store))
        .orElseGet(
            () ->
                without(
                    name,
                    place.isPresent()
                        ? "published bytes are in the data folder"
                        : "checkpoints.former-store is not set"));
  }

  /** Returns true if the store could be opened, also if its checks failed. */
  public boolean isStoreOpened() {
    return isStoreOpened;
  }

  /** The checks that need an open store; call after one was opened. */
  public List<Check> behindStore() {
    KeyChecks keys = new KeyChecks(opening, clock);
    return List.of(
        keys.secretKey(
            config.secret(), config.postgres().isPresent() ? StoreOpening.NOTHING_SHARED : ""),
        keys.signingKeys(config.access()),
        config
            .ssh()
            .map(new TenantChecks(opening)::rootTenants)
            .orElseGet(() -> without("root tenants", "nodes.ssh.identity-file is not set")));
  }

  private static Check without(String name, String why) {
    return new Check(name, notes -> notes.skip(why));
  }
}
