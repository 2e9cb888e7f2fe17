package dev.bourse.app;

import dev.bourse.access.OperatorSessions;
import dev.bourse.access.OperatorTokenService;
import dev.bourse.access.Operators;
import dev.bourse.access.Tokens;
import dev.bourse.billing.BillingAdminService;
import dev.bourse.edge.Operations;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.market.LoginIdStore;
import dev.bourse.nodes.SshConfig;
import dev.bourse.operator.MemberAdminRoutes;
import dev.bourse.operator.OperatorSessionRoutes;
import dev.bourse.operator.OperatorTokenRoutes;
import dev.bourse.operator.OrgAdminRoutes;
import dev.bourse.operator.RuleAdminRoutes;
import dev.bourse.operator.TokenAdminRoutes;
import dev.bourse.org.JoinRuleService;
import dev.bourse.org.OrgAdminService;
import dev.bourse.org.RosterService;
import dev.bourse.org.TokenService;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Assembles the operators' administration of organizations. */
final class OrgAdministration {
  /** How soon a failed read after a change is retried. */
  private static final long CATCH_UP_INTERVAL_MILLIS = 1_000;

  /** The longest time without a group id for an organization that an earlier release created. */
  private static final long GROUP_IDS_INTERVAL_MILLIS = 600_000;

  /** Sessions last for hours; expired ones are refused before their deletion. */
  private static final long SWEEP_INTERVAL_MILLIS = 3_600_000;

  private OrgAdministration() {}

  /** Binds the operations. */
  static void start(
      ServiceContext context,
      Operations operations,
      Database database,
      AccessControl access,
      RosterService roster,
      JoinRuleService rules,
      OrgAdminService orgs,
      BillingAdminService billing,
      Supplier<String> baseUrl) {
    Clock clock = context.clock();
    RandomGenerator random = context.random();
    Tokens tokens = access.tokens();
    Operators operators = access.operators();
    Optional<LoginIdStore> loginIds =
        context
            .config()
            .ssh()
            .filter(SshConfig::hasOwnIds)
            .map(ssh -> new LoginIdStore(database, ssh.idRange()));
    loginIds.ifPresent(
        store ->
            context.keepUp(
                BackgroundJob.inOneProcess(
                    "assign-group-ids",
                    "assigning group ids to organizations that have none",
                    GROUP_IDS_INTERVAL_MILLIS,
                    store::assignMissingGids)));
    new OrgAdminRoutes(orgs, billing, context.config().capacity().maxClusters(), loginIds)
        .bind(operations);
    new MemberAdminRoutes(roster).bind(operations);
    new RuleAdminRoutes(rules).bind(operations);
    new TokenAdminRoutes(new TokenService(database, tokens, clock, random), clock).bind(operations);
    new OperatorTokenRoutes(new OperatorTokenService(database, operators, clock, random), clock)
        .bind(operations);
    OperatorSessions sessions = new OperatorSessions(database, operators, baseUrl, clock, random);
    operations.admit(sessions);
    new OperatorSessionRoutes(sessions).bind(operations);
    context.keepUp(
        BackgroundJob.onConfirmedTime(
            BackgroundJob.Place.ONE_PROCESS,
            "delete-operator-sessions",
            "deleting expired operators' sessions",
            SWEEP_INTERVAL_MILLIS,
            sessions::sweep));
    context.keepUp(
        BackgroundJob.inEachProcess(
            "reread-tokens",
            "reading tokens again after a failed read",
            CATCH_UP_INTERVAL_MILLIS,
            () -> Future.join(tokens.catchUp(), operators.catchUp()).map(false)));
  }
}
