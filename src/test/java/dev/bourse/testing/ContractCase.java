package dev.bourse.testing;

import dev.bourse.access.NodeAgent;
import dev.bourse.access.Operator;
import dev.bourse.access.Principal;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A call of acme's on what is its own.
 *
 * @param body null when the operation takes none
 * @param foreign the same call on what is globex's, as path and body; empty when the operation
 *     names nothing
 */
public record ContractCase(
    String operationId, String path, @Nullable String body, List<String> foreign) {
  private static final String KEYS = "/api/vm/orgs/acme/ssh-keys";
  private static final String ORGS = "/api/operator/orgs";
  private static final String ORG = ORGS + "/globex";
  private static final String OPERATORS = "/api/operator/operators";
  private static final String OPERATOR_SESSION = "/api/operator/session";
  private static final String SWITCHES = "/api/operator/switches";
  private static final String CLUSTERS = "/api/operator/clusters";
  private static final String POOLS = "/api/operator/pools";
  private static final String NODE = "/api/operator/nodes/demo-h100-00001";
  private static final String POOL =
      "{\"name\":\"demo-h100\",\"site\":\"s\",\"provider\":\"simulated\",\"gpu_vendor\":\"v\","
          + "\"reserve_price_per_gpu_hour\":1,\"max_price_cap_per_gpu_hour\":2,\"ssh_user\":\"u\"}";
  private static final String OWN_CLUSTERS = "/api/console/clusters";
  private static final String OWN_CLUSTER = "{\"name\":\"acme-eval\",\"pool\":\"demo-h100\"}";
  private static final String SPEND_LIMIT = "/api/console/spend-limit";
  private static final String WORKING =
      "/api/billing/usage/working?hour=2026-11-21T13:00:00Z&cluster=";
  private static final String MONEY = "{\"amount_usd\":1,\"idempotency_key\":\"k\"}";
  private static final String REVIEWS = "/api/operator/reviews";
  private static final String DOCUMENTS = "/api/operator/documents";
  private static final String DOCUMENT =
      "{\"title\":\"t\",\"filename\":\"f\",\"content_type\":\"text/plain\",\"bytes\":1}";
  private static final String FILES = "/api/checkpoints";
  private static final String FEED = FILES + "/public";
  private static final String FILE =
      "{\"title\":\"t\",\"filename\":\"f\",\"content_type\":\"text/plain\",\"bytes\":1,"
          + "\"visibility\":\"org\"}";
  private static final String DIGEST = "0".repeat(64);
  private static final String SET =
      "{\"title\":\"t\",\"filename\":\"s\",\"visibility\":\"org\",\"files\":[{\"path\":\"a\","
          + "\"bytes\":1,\"sha256\":\""
          + DIGEST
          + "\"}]}";
  private static final String CONSOLE = "/api/console";
  private static final String WEBHOOKS = CONSOLE + "/webhooks";
  private static final String TRAIL_STREAM = CONSOLE + "/trail-stream";
  private static final String NAME = "{\"name\":\"n\"}";
  private static final String SERVER = "/.well-known/oauth-authorization-server";
  private static final String RESOURCE = "/.well-known/oauth-protected-resource";
  private static final String SWAP = "{\"node\":\"192.0.2.1\",\"cluster\":\"acme-train\"}";
  private static final String BID =
      "{\"limit_price_per_gpu_hour\":2,\"expected_version\":0,\"cluster\":\"acme-k8s\"}";
  private static final String K8S_SWAP = "{\"node\":\"demo-h100-00099\",\"cluster\":\"acme-k8s\"}";
  private static final String KEY = "{\"name\":\"k\",\"public_key\":\"ssh-ed25519 AAAA\"}";
  private static final String DECLARATION =
      "{\"max_gpus\":0,\"max_price_per_gpu_hour\":2,\"expected_version\":0,"
          + "\"cluster\":\"acme-train\"}";

  /** One for every operation of every contract. */
  public static final List<ContractCase> ALL =
      List.of(
          new ContractCase(
              "readCapacity",
              "/api/vm/capacity?cluster=acme-train",
              null,
              List.of("/api/vm/capacity?cluster=globex-main")),
          new ContractCase(
              "declareCapacity",
              "/api/vm/capacity",
              DECLARATION,
              List.of("/api/vm/capacity", DECLARATION.replace("acme-train", "globex-main"))),
          new ContractCase(
              "previewCapacity",
              "/api/vm/capacity/preview",
              DECLARATION,
              List.of(
                  "/api/vm/capacity/preview", DECLARATION.replace("acme-train", "globex-main"))),
          new ContractCase(
              "readOutlook",
              "/api/vm/capacity/outlook?cluster=acme-train",
              null,
              List.of("/api/vm/capacity/outlook?cluster=globex-main")),
          new ContractCase(
              "swapNode",
              "/api/vm/capacity/swap",
              SWAP,
              List.of("/api/vm/capacity/swap", SWAP.replace("acme-train", "globex-main"))),
          new ContractCase(
              "drillNodes",
              "/api/vm/capacity/drill",
              "{\"cluster\":\"acme-train\"}",
              List.of("/api/vm/capacity/drill", "{\"cluster\":\"globex-main\"}")),
          // With a parameter it does not take, so that no stream begins.
          new ContractCase(
              "followEvents",
              "/api/vm/events?cluster=acme-train&stop=1",
              null,
              List.of("/api/vm/events?cluster=globex-main")),
          new ContractCase(
              "listActivity",
              "/api/vm/activity",
              null,
              List.of("/api/vm/activity?cluster=globex-main")),
          new ContractCase(
              "readHistory",
              "/api/vm/history?cluster=acme-train",
              null,
              List.of("/api/vm/history?cluster=globex-main")),
          new ContractCase("listSshKeys", KEYS, null, List.of(KEYS.replace("acme", "globex"))),
          new ContractCase("addSshKey", KEYS, KEY, List.of(KEYS.replace("acme", "globex"), KEY)),
          new ContractCase(
              "revokeSshKey",
              KEYS + "/key_1",
              null,
              List.of(KEYS.replace("acme", "globex") + "/k")),
          new ContractCase("whoami", "/api/whoami", null, List.of()),
          new ContractCase("readRoadmap", "/api/roadmap", null, List.of()),
          new ContractCase("scrapeMetrics", "/api/metrics", null, List.of()),
          new ContractCase("listMembers", "/api/org/members", null, List.of()),
          new ContractCase("listTokens", "/api/org/tokens", null, List.of()),
          new ContractCase(
              "listTokenActivity",
              "/api/org/tokens/self/activity",
              null,
              List.of("/api/org/tokens/globex-token/activity")),
          // With a parameter it does not take, so that the callers live on.
          new ContractCase(
              "revokeOwnToken", "/api/org/tokens/self?cluster=acme-train", null, List.of()),
          new ContractCase("listOrgActivity", "/api/org/activity", null, List.of()),
          new ContractCase("exportOrgActivityCsv", "/api/org/activity/csv", null, List.of()),
          new ContractCase("exportOrgActivityNdjson", "/api/org/activity/ndjson", null, List.of()),
          new ContractCase(
              "exportPlatformActivityCsv", "/api/operator/activity/csv", null, List.of()),
          new ContractCase(
              "exportPlatformActivityNdjson", "/api/operator/activity/ndjson", null, List.of()),
          new ContractCase(
              "exportUsageCsv",
              "/api/billing/usage/csv",
              null,
              List.of("/api/billing/usage/csv?cluster=globex-main")),
          new ContractCase(
              "exportStatementCsv", "/api/billing/statements/2026-01/csv", null, List.of()),
          new ContractCase("listK8sClusters", "/api/k8s/clusters", null, List.of()),
          new ContractCase(
              "readK8sCluster",
              "/api/k8s/clusters/acme-k8s",
              null,
              List.of("/api/k8s/clusters/globex-main")),
          new ContractCase(
              "readBid", "/api/k8s/bid", null, List.of("/api/k8s/bid?cluster=globex-main")),
          new ContractCase(
              "writeBid",
              "/api/k8s/bid",
              BID,
              List.of("/api/k8s/bid", BID.replace("acme-k8s", "globex-k8s"))),
          new ContractCase(
              "previewBid",
              "/api/k8s/bid/preview",
              BID,
              List.of("/api/k8s/bid/preview", BID.replace("acme-k8s", "globex-k8s"))),
          new ContractCase(
              "readBidOutlook",
              "/api/k8s/bid/outlook",
              null,
              List.of("/api/k8s/bid/outlook?cluster=globex-main")),
          new ContractCase(
              "swapK8sNode",
              "/api/k8s/bid/swap",
              K8S_SWAP,
              List.of("/api/k8s/bid/swap", K8S_SWAP.replace("acme-k8s", "globex-k8s"))),
          new ContractCase(
              "readK8sAlerts",
              "/api/k8s/alerts",
              null,
              List.of("/api/k8s/alerts?cluster=globex-main")),
          new ContractCase(
              "writeK8sAlerts",
              "/api/k8s/alerts",
              "{\"rival_within_percent\":10,\"cluster\":\"acme-k8s\"}",
              List.of("/api/k8s/alerts", "{\"cluster\":\"globex-main\"}")),
          // With a parameter it does not take, so that no stream begins.
          new ContractCase(
              "followK8sEvents",
              "/api/k8s/events?cluster=acme-k8s&stop=1",
              null,
              List.of("/api/k8s/events?cluster=globex-main")),
          new ContractCase(
              "listK8sActivity",
              "/api/k8s/activity",
              null,
              List.of("/api/k8s/activity?cluster=globex-main")),
          new ContractCase(
              "readK8sHistory",
              "/api/k8s/history",
              null,
              List.of("/api/k8s/history?cluster=globex-main")),
          new ContractCase(
              "readK8sMetrics",
              "/api/k8s/metrics",
              null,
              List.of("/api/k8s/metrics?cluster=globex-main")),
          new ContractCase("readMarketFeed", "/api/market/feed", null, List.of()),
          new ContractCase("readBalance", "/api/billing/balance", null, List.of()),
          new ContractCase(
              "listUsage",
              "/api/billing/usage",
              null,
              List.of("/api/billing/usage?cluster=globex-main")),
          new ContractCase(
              "readUsageWorking", WORKING + "acme-train", null, List.of(WORKING + "globex-main")),
          new ContractCase("listStatements", "/api/billing/statements", null, List.of()),
          new ContractCase("readStatement", "/api/billing/statements/2026-01", null, List.of()),
          new ContractCase("listLedger", "/api/billing/ledger", null, List.of()),
          new ContractCase("readBilling", ORG + "/billing", null, List.of()),
          new ContractCase("listOrgStatements", ORG + "/billing/statements", null, List.of()),
          new ContractCase(
              "readOrgStatement", ORG + "/billing/statements/2026-01", null, List.of()),
          new ContractCase("listOrgUsage", ORG + "/billing/usage", null, List.of()),
          new ContractCase("listOrgLedger", ORG + "/billing/ledger", null, List.of()),
          new ContractCase("creditBilling", ORG + "/billing/credits", MONEY, List.of()),
          new ContractCase("payBilling", ORG + "/billing/payments", MONEY, List.of()),
          new ContractCase(
              "limitBilling", ORG + "/billing/spend-limit", "{\"limit_usd\":1}", List.of()),
          new ContractCase("unlimitBilling", ORG + "/billing/spend-limit", null, List.of()),
          new ContractCase("verifyBilling", "/api/operator/ledger", null, List.of()),
          new ContractCase("readMarketDepth", "/api/market/depth?pool=demo-h100", null, List.of()),
          new ContractCase(
              "readMarketHistory", "/api/market/history?pool=demo-h100", null, List.of()),
          new ContractCase(
              "listHostKeys",
              "/api/vm/capacity/host-keys?cluster=acme-train",
              null,
              List.of("/api/vm/capacity/host-keys?cluster=globex-main")),
          new ContractCase("readHandover", "/api/vm/nodes/198.18.0.1/handover", null, List.of()),
          new ContractCase("reportMetrics", "/api/node/metrics", "{\"gpus\":[]}", List.of()),
          new ContractCase("awaitNotice", "/api/node/notices?wait_s=0", null, List.of()),
          new ContractCase(
              "readMetrics",
              "/api/vm/metrics?cluster=acme-train",
              null,
              List.of("/api/vm/metrics?cluster=globex-main")),
          new ContractCase(
              "readAlerts",
              "/api/vm/alerts?cluster=acme-train",
              null,
              List.of("/api/vm/alerts?cluster=globex-main")),
          new ContractCase(
              "writeAlerts",
              "/api/vm/alerts",
              "{\"rival_within_percent\":10,\"cluster\":\"acme-train\"}",
              List.of("/api/vm/alerts", "{\"cluster\":\"globex-main\"}")),
          new ContractCase(
              "readMarketQuote",
              "/api/market/quote?pool=demo-h100&gpus=8&price=2",
              null,
              List.of()),
          new ContractCase("listOrgs", ORGS, null, List.of()),
          new ContractCase(
              "createOrg",
              ORGS,
              "{\"org_id\":\"o\",\"display\":\"O\",\"kind\":\"standard\"}",
              List.of()),
          new ContractCase("readOrg", ORG, null, List.of()),
          new ContractCase("updateOrg", ORG, "{\"display\":\"O\"}", List.of()),
          new ContractCase("holdOrg", ORG + "/hold", "{\"reason\":\"r\"}", List.of()),
          new ContractCase("liftOrg", ORG + "/hold", null, List.of()),
          new ContractCase("retireOrg", ORG, null, List.of()),
          new ContractCase("listOrgMembers", ORG + "/members", null, List.of()),
          new ContractCase(
              "addMember",
              ORG + "/members",
              "{\"username\":\"m\",\"email\":\"m@x.example\",\"name\":\"M\"}",
              List.of()),
          new ContractCase("updateMember", ORG + "/members/m", "{\"suspended\":true}", List.of()),
          new ContractCase("removeMember", ORG + "/members/m", null, List.of()),
          new ContractCase("listJoinRules", ORG + "/rules", null, List.of()),
          new ContractCase(
              "addJoinRule",
              ORG + "/rules",
              "{\"kind\":\"domain\",\"value\":\"x.example\"}",
              List.of()),
          new ContractCase("approveJoinRule", ORG + "/rules/jr_1/approve", null, List.of()),
          new ContractCase("removeJoinRule", ORG + "/rules/jr_1", null, List.of()),
          new ContractCase(
              "inviteMember", ORG + "/invitations", "{\"email\":\"m@x.example\"}", List.of()),
          new ContractCase("listOrgTokens", ORG + "/tokens", null, List.of()),
          new ContractCase(
              "mintToken", ORG + "/tokens", "{\"name\":\"t\",\"scopes\":[]}", List.of()),
          new ContractCase("narrowToken", ORG + "/tokens/t", "{\"limits\":{}}", List.of()),
          new ContractCase("revokeToken", ORG + "/tokens/t", null, List.of()),
          new ContractCase("listOperators", OPERATORS, null, List.of()),
          new ContractCase("mintOperator", OPERATORS, "{\"name\":\"o\"}", List.of()),
          new ContractCase("revokeOperator", OPERATORS + "/t", null, List.of()),
          new ContractCase("readClock", "/api/operator/clock", null, List.of()),
          new ContractCase("listJobs", "/api/operator/jobs", null, List.of()),
          new ContractCase("runJob", "/api/operator/jobs/none/run", null, List.of()),
          new ContractCase("readSwitches", SWITCHES, null, List.of()),
          new ContractCase(
              "writeSwitches", SWITCHES, "{\"capacity_writes_armed\":true}", List.of()),
          new ContractCase("listPlatformActivity", "/api/operator/activity", null, List.of()),
          new ContractCase("verifySeals", "/api/operator/orgs/acme/seals", null, List.of()),
          new ContractCase("listClusters", CLUSTERS, null, List.of()),
          new ContractCase(
              "createCluster",
              CLUSTERS,
              "{\"name\":\"acme-train\",\"org\":\"acme\",\"pool\":\"demo-h100\"}",
              List.of()),
          new ContractCase("readCluster", CLUSTERS + "/acme-train", null, List.of()),
          new ContractCase(
              "updateCluster", CLUSTERS + "/acme-train", "{\"maintenance\":false}", List.of()),
          new ContractCase("pinNode", CLUSTERS + "/acme-train/pins/198.51.100.1", null, List.of()),
          new ContractCase(
              "unpinNode", CLUSTERS + "/acme-train/pins/198.51.100.1", null, List.of()),
          new ContractCase("listPools", POOLS, null, List.of()),
          new ContractCase("createPool", POOLS, POOL, List.of()),
          new ContractCase("readPool", POOLS + "/demo-h100", null, List.of()),
          new ContractCase("listPoolBidders", POOLS + "/demo-h100/bidders", null, List.of()),
          new ContractCase(
              "updatePool", POOLS + "/demo-h100", "{\"swaps_enabled\":true}", List.of()),
          new ContractCase("listNodes", POOLS + "/demo-h100/nodes", null, List.of()),
          new ContractCase("addNode", POOLS + "/demo-h100/nodes", "{\"node_id\":\"n\"}", List.of()),
          new ContractCase("findNodes", "/api/operator/nodes", null, List.of()),
          new ContractCase("readStatus", "/api/operator/status", null, List.of()),
          new ContractCase("readNode", NODE, null, List.of()),
          new ContractCase("updateNode", NODE, "{\"cordoned\":false}", List.of()),
          new ContractCase("releaseNode", NODE + "/release", null, List.of()),
          new ContractCase("retryNode", NODE + "/retry", null, List.of()),
          new ContractCase("reviewNodeHandovers", NODE + "/handovers", null, List.of()),
          new ContractCase("rebaselineNode", NODE + "/rebaseline", "{}", List.of()),
          new ContractCase("evictNode", NODE + "/evict", "{\"reason\":\"r\"}", List.of()),
          new ContractCase("retireNode", NODE, null, List.of()),
          new ContractCase(
              "replaceNodeHostKey", NODE + "/host-key", "{\"host_key\":\"k\"}", List.of()),
          new ContractCase(
              "endNodeReclaim", NODE + "/end-reclaim", "{\"back_to_market\":true}", List.of()),
          new ContractCase("listReviews", REVIEWS, null, List.of()),
          new ContractCase("readReview", REVIEWS + "/rev_1", null, List.of()),
          new ContractCase("approveReview", REVIEWS + "/rev_1/approve", null, List.of()),
          new ContractCase(
              "rejectReview", REVIEWS + "/rev_1/reject", "{\"reason\":\"r\"}", List.of()),
          new ContractCase("downloadReview", REVIEWS + "/rev_1/content", null, List.of()),
          new ContractCase(
              "fetchReviewFile", REVIEWS + "/rev_1/files/" + "0".repeat(64), null, List.of()),
          new ContractCase("listDocuments", DOCUMENTS, null, List.of()),
          new ContractCase("publishDocument", DOCUMENTS, DOCUMENT, List.of()),
          new ContractCase("readDocument", DOCUMENTS + "/ckp_1", null, List.of()),
          new ContractCase("deleteDocument", DOCUMENTS + "/ckp_1", null, List.of()),
          new ContractCase("sendDocument", DOCUMENTS + "/ckp_1/content", null, List.of()),
          new ContractCase(
              "commitDocument", DOCUMENTS + "/ckp_1/commit", "{\"bytes\":1}", List.of()),
          new ContractCase("listOrgCheckpoints", ORG + "/checkpoints", null, List.of()),
          new ContractCase("readOrgCheckpoint", "/api/operator/checkpoints/ckp_1", null, List.of()),
          new ContractCase(
              "deleteOrgCheckpoint", "/api/operator/checkpoints/ckp_1", null, List.of()),
          new ContractCase(
              "checkOrgCheckpoint", "/api/operator/checkpoints/ckp_1/check", null, List.of()),
          new ContractCase("trackCheckpointsMove", "/api/operator/move", null, List.of()),
          new ContractCase(
              "moveCheckpoints",
              "/api/operator/move",
              "{\"from\":\"local\",\"to\":\"s3://bourse/checkpoints\"}",
              List.of()),
          new ContractCase("scrubCheckpoints", "/api/operator/scrub", null, List.of()),
          new ContractCase("listPublicCheckpoints", FEED, null, List.of()),
          new ContractCase("readPublicCheckpoint", FEED + "/ckp_1", null, List.of()),
          new ContractCase("readPublicCheckpointContent", FEED + "/ckp_1/content", null, List.of()),
          new ContractCase("preflightPublicCheckpoints", FEED, null, List.of()),
          new ContractCase("preflightPublicCheckpoint", FEED + "/ckp_1", null, List.of()),
          new ContractCase(
              "preflightPublicCheckpointContent", FEED + "/ckp_1/content", null, List.of()),
          new ContractCase(
              "readPublicCheckpointFile", FEED + "/ckp_1/files/" + DIGEST, null, List.of()),
          new ContractCase(
              "preflightPublicCheckpointFile", FEED + "/ckp_1/files/" + DIGEST, null, List.of()),
          new ContractCase("publishCheckpointSet", FILES + "/sets", SET, List.of()),
          new ContractCase("listCheckpointRevisions", FILES + "/ckp_1/revisions", null, List.of()),
          new ContractCase("readCheckpointReadme", FILES + "/ckp_1/readme", null, List.of()),
          new ContractCase("readCheckpointFile", FILES + "/ckp_1/files/" + DIGEST, null, List.of()),
          new ContractCase("putUploadFile", "/upload/unknown/0", null, List.of()),
          new ContractCase("listCheckpoints", FILES, null, List.of()),
          new ContractCase("publishCheckpoint", FILES, FILE, List.of()),
          new ContractCase("readCheckpoint", FILES + "/ckp_1", null, List.of()),
          new ContractCase("deleteCheckpoint", FILES + "/ckp_1", null, List.of()),
          new ContractCase("readCheckpointContent", FILES + "/ckp_1/content", null, List.of()),
          new ContractCase("writeCheckpointContent", FILES + "/ckp_1/content", null, List.of()),
          new ContractCase("commitCheckpoint", FILES + "/ckp_1/commit", "{\"bytes\":1}", List.of()),
          new ContractCase("putUpload", "/upload/unknown", null, List.of()),
          new ContractCase("readStyle", "/pages/style.css", null, List.of()),
          new ContractCase("readIcon", "/pages/icon.svg", null, List.of()),
          new ContractCase("showConsole", "/console", null, List.of()),
          new ContractCase("showOperatorConsole", "/operator", null, List.of()),
          new ContractCase("showSignIn", "/sign-in", null, List.of()),
          new ContractCase("requestSignInLink", "/sign-in", null, List.of()),
          new ContractCase("showSignInSent", "/sign-in/sent", null, List.of()),
          new ContractCase("showSignInLink", "/sign-in/link?token=t", null, List.of()),
          new ContractCase("useSignInLink", "/sign-in/link", null, List.of()),
          new ContractCase("beginProviderSignIn", "/sign-in/oidc", null, List.of()),
          new ContractCase(
              "endProviderSignIn", "/sign-in/oidc/callback?code=c&state=s", null, List.of()),
          new ContractCase("showAccount", "/account", null, List.of()),
          new ContractCase(
              "disconnectApplication", "/account/applications/revoke", null, List.of()),
          new ContractCase("narrowApplication", "/account/applications/narrow", null, List.of()),
          new ContractCase("showSignedOut", "/sign-out", null, List.of()),
          new ContractCase("signOut", "/sign-out", null, List.of()),
          new ContractCase("showStart", "/", null, List.of()),
          new ContractCase("showInstall", "/install", null, List.of()),
          new ContractCase("readInstallFile", "/install/bourse.jar", null, List.of()),
          new ContractCase("showFeed", "/feed/", null, List.of()),
          new ContractCase("showFeedItem", "/feed/ckp_1", null, List.of()),
          new ContractCase("confirmSignOutEverywhere", "/sign-out/everywhere", null, List.of()),
          new ContractCase("signOutEverywhere", "/sign-out/everywhere", null, List.of()),
          new ContractCase(
              "startOperatorSession", OPERATOR_SESSION, "{\"token\":\"bro_1_2\"}", List.of()),
          new ContractCase("readOperatorSession", OPERATOR_SESSION, null, List.of()),
          new ContractCase("endOperatorSession", OPERATOR_SESSION, null, List.of()),
          new ContractCase("readSession", "/api/console/session", null, List.of()),
          new ContractCase("listConsolePools", "/api/console/pools", null, List.of()),
          new ContractCase("listConsoleClusters", OWN_CLUSTERS, null, List.of()),
          new ContractCase("createConsoleCluster", OWN_CLUSTERS, OWN_CLUSTER, List.of()),
          new ContractCase("readConsoleCluster", OWN_CLUSTERS + "/acme-batch", null, List.of()),
          new ContractCase(
              "describeConsoleCluster",
              OWN_CLUSTERS + "/acme-batch",
              "{\"description\":\"d\"}",
              List.of()),
          new ContractCase("retireConsoleCluster", OWN_CLUSTERS + "/acme-eval", null, List.of()),
          new ContractCase("readOrgSettings", CONSOLE + "/settings", null, List.of()),
          new ContractCase(
              "setOrgSettings",
              CONSOLE + "/settings",
              "{\"ssh_keys_need_write\":false}",
              List.of()),
          new ContractCase("readMailChoices", CONSOLE + "/mails", null, List.of()),
          new ContractCase(
              "changeMailChoices", CONSOLE + "/mails", "{\"notice\":\"off\"}", List.of()),
          new ContractCase("showUnsubscribe", "/unsubscribe?token=t", null, List.of()),
          new ContractCase("unsubscribe", "/unsubscribe?token=t", null, List.of()),
          new ContractCase("readSpendLimit", SPEND_LIMIT, null, List.of()),
          new ContractCase("setSpendLimit", SPEND_LIMIT, "{\"limit_usd\":1000000}", List.of()),
          new ContractCase("clearSpendLimit", SPEND_LIMIT, null, List.of()),
          new ContractCase("listUsageDays", "/api/console/usage-days", null, List.of()),
          new ContractCase("listConsoleMembers", CONSOLE + "/members", null, List.of()),
          // With a parameter it does not take, as of every one that would end the callers' rights.
          new ContractCase(
              "removeConsoleMember", CONSOLE + "/members/alice?stop=1", null, List.of()),
          new ContractCase(
              "previewConsoleRemoval", CONSOLE + "/members/nobody/removal", null, List.of()),
          new ContractCase("listInvitations", CONSOLE + "/invitations", null, List.of()),
          new ContractCase("sendInvitation", CONSOLE + "/invitations", "{}", List.of()),
          new ContractCase(
              "withdrawInvitation",
              CONSOLE + "/invitations/jr_1",
              null,
              List.of(CONSOLE + "/invitations/jr_globex")),
          new ContractCase(
              "resendInvitation",
              CONSOLE + "/invitations/jr_1/resend",
              null,
              List.of(CONSOLE + "/invitations/jr_globex/resend")),
          new ContractCase("listConsoleRules", CONSOLE + "/join-rules", null, List.of()),
          new ContractCase("addConsoleRule", CONSOLE + "/join-rules", "{}", List.of()),
          new ContractCase(
              "verifyConsoleRule",
              CONSOLE + "/join-rules/jr_1/verify",
              null,
              List.of(CONSOLE + "/join-rules/jr_globex/verify")),
          new ContractCase(
              "removeConsoleRule",
              CONSOLE + "/join-rules/jr_1",
              null,
              List.of(CONSOLE + "/join-rules/jr_globex")),
          new ContractCase(
              "previewConsoleRule",
              CONSOLE + "/rule-preview?kind=domain&value=acme.example",
              null,
              List.of()),
          new ContractCase("listConsoleTokens", CONSOLE + "/tokens", null, List.of()),
          new ContractCase("mintConsoleToken", CONSOLE + "/tokens", "{}", List.of()),
          new ContractCase(
              "renameConsoleToken",
              CONSOLE + "/tokens/t",
              NAME,
              List.of(CONSOLE + "/tokens/globex-token", NAME)),
          new ContractCase(
              "revokeConsoleToken",
              CONSOLE + "/tokens/t",
              null,
              List.of(CONSOLE + "/tokens/globex-token")),
          new ContractCase("listWebhooks", WEBHOOKS, null, List.of()),
          new ContractCase("createWebhook", WEBHOOKS, "{}", List.of()),
          new ContractCase(
              "readWebhook", WEBHOOKS + "/whe_1", null, List.of(WEBHOOKS + "/whe_globex")),
          new ContractCase(
              "changeWebhook",
              WEBHOOKS + "/whe_1",
              "{\"enabled\":false}",
              List.of(WEBHOOKS + "/whe_globex", "{\"enabled\":false}")),
          new ContractCase(
              "deleteWebhook", WEBHOOKS + "/whe_1", null, List.of(WEBHOOKS + "/whe_globex")),
          new ContractCase(
              "rotateWebhookSecret",
              WEBHOOKS + "/whe_1/secret",
              null,
              List.of(WEBHOOKS + "/whe_globex/secret")),
          new ContractCase(
              "testWebhook",
              WEBHOOKS + "/whe_1/test",
              null,
              List.of(WEBHOOKS + "/whe_globex/test")),
          new ContractCase(
              "listWebhookDeliveries",
              WEBHOOKS + "/whe_1/deliveries",
              null,
              List.of(WEBHOOKS + "/whe_globex/deliveries")),
          new ContractCase(
              "resendWebhookDelivery",
              WEBHOOKS + "/whe_1/deliveries/1/resend",
              null,
              List.of(WEBHOOKS + "/whe_globex/deliveries/1/resend")),
          new ContractCase("readTrailStream", TRAIL_STREAM, null, List.of()),
          new ContractCase(
              "setTrailStream",
              TRAIL_STREAM,
              "{\"destination\":\"https://siem.acme.example/\"}",
              List.of()),
          new ContractCase("deleteTrailStream", TRAIL_STREAM, null, List.of()),
          new ContractCase("rotateTrailStreamSecret", TRAIL_STREAM + "/secret", null, List.of()),
          new ContractCase("listApplications", CONSOLE + "/applications", null, List.of()),
          new ContractCase(
              "disconnectApplications", CONSOLE + "/applications?stop=1", null, List.of()),
          new ContractCase(
              "disconnectOneApplication", CONSOLE + "/applications/grt_1", null, List.of()),
          new ContractCase("listPublishingCredentials", CONSOLE + "/credentials", null, List.of()),
          new ContractCase(
              "mintPublishingCredential",
              CONSOLE + "/credentials",
              "{\"name\":\"job\",\"expires_at\":\"2999-01-01T00:00:00Z\",\"max_bytes\":1}",
              List.of()),
          new ContractCase(
              "revokePublishingCredential", CONSOLE + "/credentials/pub_1", null, List.of()),
          new ContractCase("listSessions", CONSOLE + "/sessions", null, List.of()),
          new ContractCase("endSession", CONSOLE + "/sessions/s", null, List.of()),
          new ContractCase(
              "endAllSessions", CONSOLE + "/sign-out-everywhere?stop=1", null, List.of()),
          new ContractCase("sendMcpMessage", "/mcp", "{}", List.of()),
          new ContractCase("endMcpSession", "/mcp", null, List.of()),
          new ContractCase("readAuthorizationServer", SERVER, null, List.of()),
          new ContractCase("preflightAuthorizationServer", SERVER, null, List.of()),
          new ContractCase("readProtectedResource", RESOURCE, null, List.of()),
          new ContractCase("preflightProtectedResource", RESOURCE, null, List.of()),
          new ContractCase("readProtectedMcpResource", RESOURCE + "/mcp", null, List.of()),
          new ContractCase("preflightProtectedMcpResource", RESOURCE + "/mcp", null, List.of()),
          new ContractCase("readSigningKeys", "/oauth/jwks.json", null, List.of()),
          new ContractCase("preflightSigningKeys", "/oauth/jwks.json", null, List.of()),
          new ContractCase("showConsent", "/oauth/authorize", null, List.of()),
          new ContractCase("decideConsent", "/oauth/authorize", null, List.of()),
          new ContractCase("showDevice", "/device", null, List.of()),
          new ContractCase("decideDevice", "/device", null, List.of()),
          new ContractCase("issueOAuthToken", "/oauth/token", null, List.of()),
          new ContractCase("preflightOAuthToken", "/oauth/token", null, List.of()),
          new ContractCase("revokeOAuthToken", "/oauth/revoke", null, List.of()),
          new ContractCase("preflightOAuthRevocation", "/oauth/revoke", null, List.of()),
          new ContractCase(
              "beginDeviceAuthorization", "/oauth/device_authorization", null, List.of()),
          new ContractCase("registerOAuthClient", "/oauth/register", null, List.of()),
          new ContractCase("preflightOAuthClient", "/oauth/register", null, List.of()));

  /** What other software calls with parameters of its own, which are left out. */
  private static final Set<String> TOLERANT =
      Set.of(
          "endProviderSignIn",
          "showConsole",
          "showFeed",
          "showFeedItem",
          "showOperatorConsole",
          "readAuthorizationServer",
          "readProtectedResource",
          "readProtectedMcpResource",
          "readSigningKeys",
          "showConsent",
          "decideConsent",
          "showDevice",
          "issueOAuthToken",
          "revokeOAuthToken",
          "beginDeviceAuthorization",
          "registerOAuthClient");

  /** What a member does in person and an organization's token may not. */
  private static final Set<String> MEMBERS_ONLY =
      Set.of(
          "publishCheckpoint",
          "publishCheckpointSet",
          "deleteCheckpoint",
          "writeCheckpointContent",
          "commitCheckpoint");

  public ContractCheck.Described described() {
    return ContractCheck.operations().stream()
        .filter(o -> o.operationId().equals(operationId))
        .findFirst()
        .orElseThrow();
  }

  public boolean isForOperators() {
    return described().schemes().contains(Operator.SCHEME);
  }

  /** Whether a node's agent does it. */
  public boolean isForNodes() {
    return described().schemes().contains(NodeAgent.SCHEME);
  }

  /** Whether an operator may do it in a session. */
  public boolean isForOperatorSessions() {
    return described().schemes().contains(Operator.SESSION_SCHEME);
  }

  public boolean isForAnybody() {
    return described().schemes().isEmpty();
  }

  /** Whether a member may do it with a token of their own. */
  public boolean isForMembers() {
    return described().schemes().contains(Principal.MEMBER_SCHEME);
  }

  /** Whether it takes an organization's token. */
  public boolean isForTokens() {
    return described().schemes().contains(Principal.SCHEME);
  }

  /** Whether a member may do it in a session. */
  public boolean isForSessions() {
    return described().schemes().contains(Principal.SESSION_SCHEME);
  }

  /** Whether a member does it in person and an organization's token may not. */
  public boolean isForMembersOnly() {
    return MEMBERS_ONLY.contains(operationId) || (isForMembers() && !isForTokens());
  }

  /** What this caller is answered. */
  public HttpAnswer sentBy(ApiClient caller) {
    String method = described().method();
    return body == null
        ? caller.send(method, path, null)
        : caller.send(method, path, body, "Content-Type", "application/json");
  }

  /** Whether it leaves out parameters that it does not know. */
  public boolean isTolerant() {
    return TOLERANT.contains(operationId);
  }
}
