package dev.bourse.app;

import dev.bourse.audit.AuditConfig;
import dev.bourse.billing.BillingConfig;
import dev.bourse.billing.BillingService;
import dev.bourse.billing.HealthRetention;
import dev.bourse.billing.HoldService;
import dev.bourse.billing.UsagePosting;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.Clusters;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.store.Database;

/** Assembles billing. */
final class BillingSetup {
  /**
   * The least time after which a commit to a server has certainly ended: connecting, waiting for a
   * connection and one group of commits take at most 21 s by default, and a server may take its
   * time to notice that a client is gone.
   */
  private static final long LEAST_UNDER_WAY_MILLIS = 60_000;

  /** A group of commits, the repeated query for its outcome, and the same again as a reserve. */
  private static final int QUERIES_UNDER_WAY = 3;

  private BillingSetup() {}

  /** Moves the holds of organizations and applies them to their clusters. */
  static HoldService holds(
      ServiceContext context, Database database, Clusters clusters, ClusterOwners owners) {
    return new HoldService(
        database,
        clusters,
        owners,
        context.config().billing(),
        context.config().market().protectionMillis(),
        context.clock(),
        context.time());
  }

  /** Starts to post usage and to maintain holds, until the service stops. */
  static BillingService start(
      ServiceContext context, Database database, Clusters clusters, HoldService holds) {
    BillingConfig config = context.config().billing();
    long protection = context.config().market().protectionMillis();
    BillingService billing =
        new BillingService(database, clusters, config, protection, context.clock());
    UsagePosting posting =
        new UsagePosting(database, settleMillis(context.config()), context.time());
    context
        .signals()
        .counter(
            "bourse_usage_posting_failures_total",
            "Tries to post an organization's hour of usage that failed.",
            posting::failures);
    context
        .signals()
        .counter(
            "bourse_usage_reversals_total",
            """
            Hours of organizations' usage that were posted by a clock that was ahead and \
            reversed.\
            """,
            posting::reversals);
    context
        .signals()
        .gauge(
            "bourse_usage_posting_behind_seconds",
            "How long ago the hour ended up to which usage is posted; 0 before the first look.",
            () -> holds.behindMillis() / 1e3);
    context
        .signals()
        .gauge(
            "bourse_billing_holds_waiting",
            "1 while posting is so far behind that no billing hold begins or goes on.",
            () -> holds.isWaiting() ? 1 : 0);
    context.keepUp(
        BackgroundJob.inOneProcess(
                "post-usage", "posting usage", config.checkMillis(), posting::step)
            .withConfirmedTime());
    AuditConfig audit = context.config().audit();
    context.keepUp(
        BackgroundJob.inOneProcess(
                "delete-node-health",
                "deleting expired changes of nodes' health",
                audit.retentionIntervalMillis(),
                new HealthRetention(database, audit.activityMillis(), context.time())::step)
            .withConfirmedTime());
    context.keepUp(
        BackgroundJob.inOneProcess(
                "advance-holds",
                "beginning and ending billing holds",
                config.checkMillis(),
                holds::step)
            .withConfirmedTime());
    context.keepUp(
        BackgroundJob.inEachProcess(
            "check-posting-lag",
            "reading up to when usage is posted",
            config.checkMillis(),
            holds::checkLag));
    return billing;
  }

  /** At least as long as a commit to a server may be in flight. */
  private static long settleMillis(Config config) {
    return Math.max(
        config.billing().settleMillis(),
        config
            .postgres()
            .map(
                server ->
                    Math.max(LEAST_UNDER_WAY_MILLIS, QUERIES_UNDER_WAY * server.queryMillis()))
            .orElse(0L));
  }
}
