"""Signing in, staying signed in and signing out, as an app does it with the SDK."""

import pytest

from tests.flows.conftest import running_server
from tests.node import needs_node
from tests.sdk.conftest import PASSWORD, sign_up
from tests.sdk.node import ScriptError
from tests.waiting import wait_for

pytestmark = [pytest.mark.once, needs_node, pytest.mark.timeout(240)]


def code_after(mail_sink, email, old):
    """The next code mailed to an address."""

    def newer():
        code = mail_sink.code_for(email)
        return code if code != old else None

    return wait_for(newer, what="another code")


def action_token(node, mail_sink, email, action):
    """A confirmed action of Alice's."""
    old = mail_sink.code_for(email)
    node.run(f'state.challenge = await state.alice.auth.actionChallenge({{ action: "{action}" }});')
    code = code_after(mail_sink, email, old)
    return node.run(f"""
      const {{ challenge_token }} = state.challenge;
      return (await state.alice.auth.actionVerify({{ challenge_token, code: "{code}" }})).action_token;
    """)


def test_from_sign_up_to_recovery(node, alice, server, mail_sink):
    assert node.run("return [state.alice.session.isSignedIn, state.alice.session.user.first_name]") == [True, "Alice"]
    assert [event["name"] for event in node.run("return state.alice.events") if "sign" in event["name"]] == ["signedin"]

    token = action_token(node, mail_sink, alice, "two_step_enable")
    codes = node.run(f"""
      const asked = {{ action_token: "{token}", password: "another word entirely", hint: "not the first" }};
      return (await state.alice.auth.twoStepEnable(asked)).recovery_codes;
    """)
    node.run("await state.alice.session.signOut()")
    with pytest.raises(ScriptError) as refused:
        node.run("await state.alice.profile.get()")
    assert refused.value.code == "token_invalid"

    assert node.run(f"""
      const {{ alice }} = state;
      const reply = await alice.auth.login({{ email: "{alice}", password: "{PASSWORD}" }});
      return [reply.two_step_required, alice.session.isSignedIn, alice.session.twoStep];
    """) == [True, False, {"hint": "not the first"}]
    with pytest.raises(ScriptError) as wrong:
        node.run('await state.alice.auth.twoStep({ password: "wrong" })')
    assert (wrong.value.code, wrong.value.error["status"]) == ("invalid_two_step", 401)
    # A trusted device: the second password is not asked for again.
    assert node.run(f"""
      const {{ alice }} = state;
      await alice.auth.twoStep({{ password: "another word entirely", remember: true }});
      const first = [alice.session.isSignedIn, alice.session.twoStep];
      await alice.session.signOut();
      const reply = await alice.auth.login({{ email: "{alice}", password: "{PASSWORD}" }});
      return [...first, reply.two_step_required ?? false, alice.session.isSignedIn];
    """) == [True, None, False, True]
    # Another device, and the second password is forgotten.
    assert node.run(f"""
      const other = make({{ baseUrl: "{server.base}", name: "other" }});
      await other.auth.login({{ email: "{alice}", password: "{PASSWORD}" }});
      const {{ recovery_codes_left }} = await other.auth.twoStepForgot({{ recovery_code: "{codes[0]}" }});
      return [recovery_codes_left, other.session.isSignedIn];
    """) == [9, True]


def test_a_changed_password_signs_out_the_others_with_a_reason(node, alice, server, mail_sink):
    node.run(f"""
      state.other = make({{ baseUrl: "{server.base}", name: "other" }});
      await state.other.auth.login({{ email: "{alice}", password: "{PASSWORD}" }});
      for (const client of [state.alice, state.other]) client.connect();
      await until(() => state.alice.status === "online" && state.other.status === "online");
    """)
    token = action_token(node, mail_sink, alice, "change_password")
    change = f'{{ action_token: "{token}", current_password: "{PASSWORD}", new_password: "quite another secret" }}'
    assert node.run(f"""
      const before = state.alice.session.token;
      await state.alice.auth.changePassword({change});
      await until(() => !state.other.session.isSignedIn);
      await state.alice.profile.get();
      await until(() => state.alice.status === "online");
      const ends = state.other.events.filter(({{ name }}) => name === "signedout").map(({{ data }}) => data);
      return [before !== state.alice.session.token, state.alice.status, ends, state.other.status];
    """) == [True, "online", [{"reason": "token_revoked", "forget": True}], "offline"]


def test_a_device_has_a_name_in_any_script(node, alice, server):
    assert node.run(f"""
      const phone = make({{ baseUrl: "{server.base}", name: "phone", deviceName: "Ann’s 電話 📱" }});
      await phone.auth.login({{ email: "{alice}", password: "{PASSWORD}" }});
      const {{ sessions }} = await phone.auth.sessionsList();
      return sessions.filter((session) => session.is_current).map((session) => session.device_name);
    """) == ["Ann’s 電話 📱"]


def test_tokens_are_renewed_before_they_expire_even_by_a_wrong_clock(node, tmp_path, mail_sink):
    """The device's clock is two hours ahead: by it, every token has expired long ago."""
    with running_server(tmp_path, mail_sink) as server:
        server.environment["DJANGO_SETTINGS_MODULE"] = "tests.sdk.short_tokens"
        server.start()
        node.run("const { now } = Date; state.now = now; Date.now = () => now() + 7_200_000;")
        sign_up(node, server, mail_sink, "Alice")
        script = """
          const { alice } = state;
          alice.connect();
          const first = alice.session.token;
          await until(() => alice.status === "online");
          await until(() => alice.events.filter(({ name }) => name === "session.renewed").length >= 2, 80);
          const off = Math.abs(alice.now() - state.now());
          const renewals = alice.sent.filter(({ type }) => type === "auth").length;
          await alice.profile.get();
          return [first !== alice.session.token, off < 3000, renewals >= 3, alice.session.isSignedIn];
        """
        assert node.run(script, 120) == [True, True, True, True]


@pytest.mark.parametrize("order", ["before the answer", "after the answer"])
def test_a_sign_out_elsewhere_wins_over_a_renewal_in_flight(order, node, alice, server):
    """Two clients share their storage, as two tabs do; the answer to the renewal waits until the other signs out."""
    is_late = order == "after the answer"
    assert node.run(f"""
      const storage = new (class extends Map {{
        get length() {{ return this.size; }}
        key(index) {{ return [...this.keys()][index] ?? null; }}
        getItem(key) {{ return this.get(key) ?? null; }}
        setItem(key, value) {{ this.set(key, value); }}
        removeItem(key) {{ this.delete(key); }}
      }})();
      let release;
      const released = new Promise((resolve) => (release = resolve));
      const slow = async (url, options) => {{
        if (!url.endsWith("/refresh")) return fetch(url, options);
        if ({str(is_late).lower()}) {{
          const answer = await fetch(url, options);
          await released;
          return answer;
        }}
        await released;
        return fetch(url, options);
      }};
      const one = make({{ baseUrl: "{server.base}", storage, fetch: slow }});
      const two = make({{ baseUrl: "{server.base}", storage }});
      await one.auth.login({{ email: "{alice}", password: "{PASSWORD}" }});
      const renewal = one.session.refresh().catch(({{ code }}) => code);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await two.session.signOut();
      release();
      await renewal;
      return [one.session.isSignedIn, two.session.isSignedIn, storage.get("parley.session") ?? null];
    """) == [False, False, None]


def test_errors_carry_what_the_server_said(people):
    error = people.run("""
      return state.alice.messages.send({ conversation_id: state.talk, body: "" }).catch((error) => ({
        ...error, text: error.message, isParley: error instanceof sdk.ParleyError, isTemporary: error.isTemporary,
      }));
    """)
    assert (error["code"], error["status"], error["isParley"], error["isTemporary"]) == (
        "validation_error",
        400,
        True,
        False,
    )
    assert list(error["fields"]) == ["body"]
    assert len(error["requestId"]) > 8
    for call, text in (
        ("list({})", "messages_list needs conversation_id."),
        ("send({ conversation_id: 1, text: 'x' })", "messages_send has no parameter text."),
    ):
        assert people.run(f"return state.alice.messages.{call}.catch((error) => error.message)") == text


def test_reads_are_repeated_and_writes_are_not(node, bob, server):
    """The first answer to every request is a 503, which asks to wait for a second."""
    assert node.run(f"""
      const asked = [];
      const body = JSON.stringify({{ ok: false, error: "service_unavailable", message: "Later.", retry_after: 1 }});
      const busy = (url, options) => {{
        asked.push(options.method);
        const isFirst = asked.length % 2 === 1;
        const headers = {{ "Content-Type": "application/json" }};
        return isFirst ? Promise.resolve(new Response(body, {{ status: 503, headers }})) : fetch(url, options);
      }};
      const client = make({{ baseUrl: "{server.base}", fetch: busy }});
      const login = {{ email: "{bob}", password: "{PASSWORD}" }};
      const refused = await client.auth.login(login).catch(({{ code, retryAfter }}) => [code, retryAfter]);
      await client.auth.login(login);
      const started = Date.now();
      const {{ profile }} = await client.profile.get();
      return [refused, profile.first_name, Date.now() - started >= 1000, asked];
    """) == [["service_unavailable", 1], "Bob", True, ["POST", "POST", "GET", "GET"]]
