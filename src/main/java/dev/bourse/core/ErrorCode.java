package dev.bourse.core;

/**
 * Every error code of an answer to a client, with its HTTP status.
 *
 * <p>The contracts list the same codes; start-up compares the two and refuses to serve when they
 * differ.
 */
public enum ErrorCode {
  /** The bytes on the wire are not an HTTP request. */
  MALFORMED_REQUEST(400, "malformed-request"),
  UNAUTHORIZED(401, "unauthorized"),
  FORBIDDEN(403, "forbidden"),
  /** A declaration beyond the limits of its token. */
  TOKEN_LIMIT(403, "token-limit"),
  NOT_FOUND(404, "not-found"),
  METHOD_NOT_ALLOWED(405, "method-not-allowed"),
  NOT_ACCEPTABLE(406, "not-acceptable"),
  /** The request's head or body did not arrive in the time allowed. */
  REQUEST_TIMEOUT(408, "request-timeout"),
  /** The session of a resumable upload ended before its commit. */
  UPLOAD_TIMEOUT(408, "upload-timeout"),
  AMBIGUOUS_CLUSTER(409, "ambiguous-cluster"),
  CLUSTER_GATED(409, "cluster-gated"),
  /** The request conflicts with an existing item. */
  CONFLICT(409, "conflict"),
  NODE_PINNED(409, "node-pinned"),
  STATIC_POSTURE(409, "static-posture"),
  SWAP_DISABLED(409, "swap-disabled"),
  UNKNOWN_NODE(409, "unknown-node"),
  VERSION_MISMATCH(409, "version-mismatch"),
  /**
   * A checkpoint that belongs to somebody else, was deleted, or never existed; the error is the
   * same in all three cases.
   */
  GONE(410, "gone"),
  TOO_LARGE(413, "too-large"),
  URI_TOO_LONG(414, "uri-too-long"),
  UNSUPPORTED_MEDIA_TYPE(415, "unsupported-media-type"),
  BAD_REQUEST(422, "bad-request"),
  BID_TOO_LOW(422, "bid-too-low"),
  NO_SSH_KEYS(422, "no-ssh-keys"),
  PRICE_ABOVE_MAXIMUM(422, "price-above-maximum"),
  PRICE_PRECISION(422, "price-precision"),
  /** A file with a suspected credential; nothing of it is kept. */
  SECRET_DETECTED(422, "secret-detected"),
  /** The organization's checkpoint storage is full. */
  ORG_CAP(429, "org-cap"),
  RATE_LIMITED(429, "rate-limited"),
  HEADERS_TOO_LARGE(431, "headers-too-large"),
  INTERNAL(500, "internal"),
  CAPACITY_WRITES_DISABLED(503, "capacity-writes-disabled"),
  /** A write with an unknown outcome: the connection to the store was lost before it answered. */
  OUTCOME_UNKNOWN(503, "outcome-unknown"),
  /** A bounded queue is full or the store does not answer; the same request may succeed later. */
  OVERLOADED(503, "overloaded"),
  /** The disk of the store or of published files is full; an operator has to free space. */
  STORAGE_FULL(503, "storage-full");

  private final int status;
  private final String code;

  ErrorCode(int status, String code) {
    this.status = status;
    this.code = code;
  }

  /** The HTTP status of answers with this code. */
  public int status() {
    return status;
  }

  /** The code as clients see it. */
  public String code() {
    return code;
  }
}
