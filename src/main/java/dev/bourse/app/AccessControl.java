package dev.bourse.app;

import dev.bourse.access.AccessStore;
import dev.bourse.access.BearerAuthenticator;
import dev.bourse.access.MemberToken;
import dev.bourse.access.MemberTokens;
import dev.bourse.access.Members;
import dev.bourse.access.NodeCredentials;
import dev.bourse.access.Operators;
import dev.bourse.access.Revocations;
import dev.bourse.access.Scope;
import dev.bourse.access.ServiceSecrets;
import dev.bourse.access.SigningKeys;
import dev.bourse.access.Tokens;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.store.Database;
import dev.bourse.store.Mirror;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Assembles the access control of organizations' tokens, operators and members.
 *
 * @param tokens the API tokens of organizations
 * @param revocations refuses members' tokens despite a valid signature
 * @param nodeCredentials the credentials of nodes' agents
 * @param authenticator identifies callers by their tokens
 */
record AccessControl(
    Tokens tokens,
    Operators operators,
    Members members,
    SigningKeys signingKeys,
    Revocations revocations,
    MemberTokens memberTokens,
    NodeCredentials nodeCredentials,
    FreshCredentials authenticator) {
  /** How long the demo can run without a restart, which creates new tokens. */
  private static final long DEMO_TOKEN_MILLIS = 30L * 24 * 3_600 * 1_000;

  /** Assembles the parts; nothing is read yet. */
  static AccessControl of(
      ServiceContext context,
      Database database,
      Supplier<String> baseUrl,
      FreshCredentials.Knowledge knowledge) {
    Clock clock = context.clock();
    Config config = context.config();
    AccessStore access = new AccessStore(database);
    Tokens tokens = new Tokens(access, clock);
    Members members = new Members(access);
    SigningKeys signingKeys =
        new SigningKeys(
            context.vertx(),
            database,
            config.data(),
            context.secrets(database),
            config.access(),
            clock);
    Revocations revocations = new Revocations(database, clock);
    Operators operators = new Operators(access, clock);
    MemberTokens memberTokens =
        new MemberTokens(
            signingKeys, members, tokens, revocations, baseUrl, clock, context.random());
    NodeCredentials nodeCredentials = new NodeCredentials();
    return new AccessControl(
        tokens,
        operators,
        members,
        signingKeys,
        revocations,
        memberTokens,
        nodeCredentials,
        new FreshCredentials(
            new BearerAuthenticator(tokens, operators, memberTokens, nodeCredentials),
            knowledge,
            context.nanoTime(),
            config.storeWatch().staleMillis()));
  }

  /**
   * Reads the stored state; the first start of a store creates its first operator.
   *
   * @param files receive that operator's token
   */
  Future<Void> load(ServiceContext context, Database database, KeysFiles files) {
    context.shutdown().push(tokens::flush);
    context.keepUp(
        BackgroundJob.inEachProcess(
                "store-token-uses",
                "storing when tokens were last used",
                Tokens.TOUCH_INTERVAL_MILLIS,
                tokens::flushSome)
            .afterFirstPeriod());
    FirstOperator first = new FirstOperator(context, database);
    return Future.all(
            List.of(
                tokens.load(),
                operators.load().compose(loaded -> first.mint(operators, files.listOperators())),
                members.load(),
                signingKeys.start(),
                nodeCredentials.load(
                    new ServiceSecrets(database, context.secrets(database), context.random())),
                revocations.load()))
        .mapEmpty();
  }

  /** The in-memory state, by the topics of its changes. */
  Map<String, Mirror> mirrors() {
    return Map.of(
        Tokens.CHANGED,
        tokens,
        Tokens.ORGANIZATION_CHANGED,
        tokens.organizations(),
        Members.CHANGED,
        members,
        Operators.CHANGED,
        operators,
        SigningKeys.CHANGED,
        signingKeys,
        Revocations.CHANGED,
        revocations,
        Revocations.MEMBER_CHANGED,
        revocations.members());
  }

  /** Writes the demo members' tokens to their file, when the service's address is known. */
  Future<Void> writeMemberTokens(ServiceContext context, KeysFiles files) {
    return context
        .vertx()
        .executeBlocking(
            () -> {
              files.writeMemberTokens(
                  Map.of(
                      "member_token",
                      (org, member) -> demoToken(org, member, memberTokens.restAudience()),
                      "mcp_token",
                      (org, member) -> demoToken(org, member, memberTokens.mcpAudience())));
              return null;
            });
  }

  private String demoToken(String orgId, String username, String audience) {
    return memberTokens.issue(
        new MemberToken(
            orgId, username, audience, EnumSet.allOf(Scope.class), "demo", "", DEMO_TOKEN_MILLIS));
  }
}
