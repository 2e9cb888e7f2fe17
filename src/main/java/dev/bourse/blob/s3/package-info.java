/**
 * Blobs in an object store that speaks S3, shared by all processes on one database.
 *
 * <p>The rows are the source of truth: which uploads exist, which of their parts arrived with which
 * tag, which blobs exist and how long they are. The store is asked for bytes, never for existence.
 * No request waits for a list of the store, and every object's name follows from a row that was
 * committed before the object was created.
 *
 * <p>An upload's bytes pass the inspector and go to a spool, a local file of one part. A part then
 * has a known length and can be sent again without its client, and memory does not grow with it. A
 * full spool is sent as a part of a multipart upload. A shorter rest at the end of a request is
 * stored as a piece, an object of its own, from which another process fills its spool. So a crash
 * loses at most the part in progress. Each opening raises the upload's <em>epoch</em>, and every
 * commit of an opening demands its own epoch: if two processes append at once, the later opening
 * owns the upload and their bytes are not mixed. A reused name starts at the first epoch with
 * another <em>base</em>, which the commits demand as well, so an opening of the earlier upload
 * cannot write to the new one. Part numbers and boundaries follow from the offset. A process that
 * was frozen and resumes can only overwrite a part whose recorded tag then no longer matches; the
 * store rejects such a completion, and the upload restarts.
 *
 * <p>To finish an upload that several openings took, a process reads all of it back, which takes
 * minutes for tens of GiB, and a load balancer sends the client's retry to another process. So a
 * process that finishes for longer marks the upload's row for some seconds at a time, and the
 * others refuse to open it. The mark is an optimization, not a lock: without it each process reads
 * the same object, and the first one to finish completes the upload for all.
 *
 * <p>An opening reads only rows. Its spool starts after the pieces of earlier openings, and these
 * are read only when their part is full or the upload ends. Reading tails at each opening cost the
 * store up to a part for each client that turned to another process and left again. Rejected:
 * refusing uploads that another process used moments ago, because clients would wait for crashed
 * processes.
 *
 * <p>The state "completing" is committed before the completion is requested, and the upload cannot
 * be aborted after that: the completion is requested until it is known to have happened or to be
 * impossible. A blob becomes readable with the commit that gives its key an object. Parts of an
 * unfinished multipart upload cannot be read, so if several openings took an upload's bytes, the
 * finished object is read back once through the inspector before that commit. Digests of other
 * processes are not trusted.
 *
 * <p>A part is sent while its bytes arrive: the request starts with the first bytes and follows the
 * spool, so receiving, inspecting and sending overlap. A tail that does not become a part, or a
 * slow client, cancels that request without a record of it. So at most one part of an upload is
 * unrecorded at any time.
 *
 * <p>The protocol, its signatures and its retries are the AWS SDK's, used synchronously on bounded
 * thread pools: no second Netty, and no blocking on an event loop. The library's newer checksums
 * are sent only where the protocol requires them, because other vendors' services reject them.
 *
 * <p>Bytes are verified by their MD5 instead, which every service supports. Bytes that are complete
 * before they are sent carry it as {@code Content-MD5}, and the store's tag is compared with it if
 * the tag is a digest. A part that is sent while its bytes arrive is verified by its tag alone. If
 * the store's answers show that its tags are not digests, as with keys of KMS, a part is sent only
 * after it is spooled, with {@code Content-MD5}. Altered bytes are sent again, three times at most.
 *
 * <p>The SDK uses the HTTP client of the JDK. Measured on two cores shared with the store, 512 MiB
 * in parts of 16 MiB, in MB/s: 305 up and 2,400 down, against 305 and 2,290 with Apache's, which
 * would add four libraries. Over plain HTTP, payloads are signed chunk by chunk; signed as a whole
 * they are read twice, and the upload falls to 200. Through this store, inspected, uploads reach
 * 255, and 150 if parts are sent only after the spool is full. Downloads reach 0.75 to 0.85 of the
 * bare client in pieces of 256 KiB, several of which are read ahead; one by one they reach half.
 * With a client on the same two cores, downloads reach half, which is half of nginx as a proxy: two
 * threads copy a response's bytes from the socket to the heap and from there to the other socket,
 * which costs 1.0 s of CPU per GiB. Vert.x's client would copy them as often, and would ignore the
 * SDK's configuration of proxies and trust. Amazon's native client was not tried because it needs a
 * library for each platform.
 */
@NullMarked
package dev.bourse.blob.s3;

import org.jspecify.annotations.NullMarked;
