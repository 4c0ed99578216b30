package parley

import java.time.OffsetDateTime

// The classes as an app uses them: named fields, optional ones left out, null checked by the compiler.
fun main() {
    val request = SendMessageRequest(body = "Hello Bob!", clientID = "first-1")
    val draft = request.copy(body = request.body.trim(), replyToID = null)
    val known = { message: Message -> message.body ?: message.media?.thumbURL ?: "" }
    // The values of lists that may grow are texts: a newer server's kind, outcome or code is one like any other.
    val call = CallSummary(durationS = null, id = 4, media = CallMedia.Audio, outcome = "diverted")
    val moment = OffsetDateTime.parse("2026-11-20T08:01:00Z")
    val event = LoggedEvent(at = moment, data = mapOf("poll_id" to 6), seq = 9, type = "poll.opened")
    val target = NotificationTarget(id = 5, title = "Gold", type = "trophy")
    val error = Error(error = "poll_closed", message = "The poll is closed.", ok = false, requestID = "5f1c")
    val show = { kind: String -> if (kind == "text") "a text" else "a $kind" }
    println("${draft.body} ${draft.clientID} ${show("poll")} ${call.outcome} ${event.type} ${target.type} ${error.error} ${known.javaClass.simpleName.isNotEmpty()}")
}
