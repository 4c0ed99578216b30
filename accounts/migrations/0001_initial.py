"""The tables of accounts, and what Django's models cannot say of them on PostgreSQL."""

import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

# One index then serves both prefix and order, as on SQLite.
IN_BYTE_ORDER = {
    "username_folded": 64,
    "name_folded": 300,
    "family_first_folded": 300,
    "name_joined": 300,
    "family_first_joined": 300,
}


def use_byte_order(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for column, length in IN_BYTE_ORDER.items():
            schema_editor.execute(
                f'ALTER TABLE accounts_user ALTER COLUMN {column} TYPE varchar({length}) COLLATE "C"'
            )


def make_address_no_key(apps, schema_editor):
    """The unique index of the address leaves out what is never there.

    With a plain one the address is a key that a foreign key could refer to, so that changing it waits for every
    transaction that has just inserted a row of the user, and those wait for it: at the commit, where they already hold
    other locks.
    """
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE accounts_user DROP CONSTRAINT accounts_user_email_key")
        schema_editor.execute(
            "CREATE UNIQUE INDEX accounts_user_email_unique ON accounts_user (email) WHERE email IS NOT NULL"
        )


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username_folded', models.CharField(editable=False, max_length=64)),
                ('name_folded', models.CharField(editable=False, max_length=300)),
                ('family_first_folded', models.CharField(editable=False, max_length=300)),
                ('name_joined', models.CharField(editable=False, max_length=300)),
                ('family_first_joined', models.CharField(editable=False, max_length=300)),
                ('wrong_passwords', models.PositiveIntegerField(default=0, verbose_name='wrong passwords in a row')),
                ('wrong_password_at', models.DateTimeField(blank=True, null=True)),
                ('locked_until', models.DateTimeField(blank=True, null=True, verbose_name='locked until')),
                ('password', models.CharField(max_length=256, verbose_name='password')),
                ('email', models.EmailField(max_length=254, unique=True, verbose_name='e-mail address')),
                ('external_id', models.CharField(blank=True, max_length=128, null=True, verbose_name='external id')),
                ('username', models.CharField(max_length=32, verbose_name='username')),
                ('first_name', models.CharField(max_length=50, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=50, verbose_name='last name')),
                ('bio', models.CharField(blank=True, max_length=500, null=True, verbose_name='about')),
                ('avatar_token', models.CharField(blank=True, max_length=32)),
                ('language', models.CharField(default='en', max_length=35, verbose_name='language')),
                ('is_staff', models.BooleanField(default=False, verbose_name='staff')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='joined')),
                ('last_seen_at', models.DateTimeField(blank=True, null=True, verbose_name='last seen')),
                ('username_changed_at', models.DateTimeField(blank=True, null=True, verbose_name='username changed at')),
                ('email_verified_at', models.DateTimeField(blank=True, null=True, verbose_name='confirmed at')),
                ('blocked_at', models.DateTimeField(blank=True, null=True, verbose_name='blocked at')),
                ('blocked_until', models.DateTimeField(blank=True, null=True, verbose_name='blocked until')),
                ('blocked_reason', models.CharField(blank=True, max_length=500, verbose_name='reason for the block')),
                ('erase_after', models.DateTimeField(blank=True, null=True, verbose_name='to be erased after')),
                ('erased_at', models.DateTimeField(blank=True, null=True, verbose_name='erased at')),
                ('contested_at', models.DateTimeField(blank=True, null=True)),
                ('contested_first_name', models.CharField(blank=True, max_length=50)),
                ('contested_last_name', models.CharField(blank=True, max_length=50)),
                ('contested_language', models.CharField(blank=True, max_length=35)),
                ('password_changed_at', models.DateTimeField(blank=True, null=True, verbose_name='password changed at')),
                ('password_reset_at', models.DateTimeField(blank=True, null=True, verbose_name='password reset at')),
                ('password_reset_network', models.CharField(blank=True, max_length=45)),
                ('failed_codes', models.PositiveIntegerField(default=0)),
                ('failed_codes_day', models.DateField(blank=True, null=True)),
                ('second_password', models.CharField(blank=True, max_length=128)),
                ('second_password_hint', models.CharField(blank=True, max_length=64)),
                ('second_password_changed_at', models.DateTimeField(blank=True, null=True, verbose_name='second password changed at')),
                ('wrong_second_passwords', models.PositiveIntegerField(default=0)),
                ('wrong_second_passwords_day', models.DateField(blank=True, null=True)),
                ('wrong_staff_codes', models.PositiveIntegerField(default=0)),
                ('wrong_staff_codes_day', models.DateField(blank=True, null=True)),
                ('who_can_message', models.CharField(choices=[('everyone', 'everyone'), ('contacts', 'contacts'), ('nobody', 'nobody')], default='everyone', max_length=10, verbose_name='who can message')),
                ('read_receipts', models.BooleanField(default=True, verbose_name='read receipts')),
                ('show_last_seen', models.BooleanField(default=True, verbose_name='shows when last seen')),
                ('relay_calls', models.BooleanField(default=False, verbose_name='calls through the relay')),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'user',
                'verbose_name_plural': 'users',
                'permissions': [('block_user', 'Can block and unblock users'), ('unlock_user', 'Can unlock users and resend their code'), ('sign_out_user', 'Can end sessions of users'), ('reset_two_step', 'Can turn off two-step verification of users'), ('export_user', 'Can download data of users'), ('erase_user', 'Can erase users')],
            },
        ),
        migrations.CreateModel(
            name='UnknownAddress',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('wrong_passwords', models.PositiveIntegerField(default=0, verbose_name='wrong passwords in a row')),
                ('wrong_password_at', models.DateTimeField(blank=True, null=True)),
                ('locked_until', models.DateTimeField(blank=True, null=True, verbose_name='locked until')),
                ('key', models.CharField(help_text='keyed digest of the address', max_length=64, unique=True)),
                ('touched_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
            options={
                'verbose_name': 'unknown address',
            },
        ),
        migrations.CreateModel(
            name='StorageUse',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('total_bytes', models.BigIntegerField(default=0)),
                ('day', models.DateField()),
                ('day_bytes', models.BigIntegerField(default=0)),
            ],
            options={
                'verbose_name': 'storage of a user',
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('actor_label', models.CharField(max_length=254, verbose_name='actor')),
                ('action', models.CharField(db_index=True, max_length=60, verbose_name='action')),
                ('target_label', models.CharField(blank=True, max_length=254, verbose_name='target')),
                ('reason', models.CharField(blank=True, max_length=500, verbose_name='reason')),
                ('details', models.JSONField(blank=True, default=dict, verbose_name='details')),
                ('request_id', models.CharField(blank=True, max_length=64, verbose_name='request id')),
                ('ip', models.GenericIPAddressField(blank=True, null=True, verbose_name='IP address')),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now, verbose_name='created at')),
                ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='actor account')),
                ('target', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='target account')),
            ],
            options={
                'verbose_name': 'audit entry',
                'verbose_name_plural': 'audit log',
            },
        ),
        migrations.CreateModel(
            name='Block',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('blocked', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='blocks_met', to=settings.AUTH_USER_MODEL, verbose_name='blocked person')),
                ('blocker', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='blocks_made', to=settings.AUTH_USER_MODEL, verbose_name='blocked by')),
            ],
            options={
                'verbose_name': 'block',
                'verbose_name_plural': 'blocks',
            },
        ),
        migrations.CreateModel(
            name='Code',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('purpose', models.CharField(max_length=40, verbose_name='purpose')),
                ('address', models.EmailField(max_length=254, verbose_name='address')),
                ('digest', models.CharField(max_length=64)),
                ('tries', models.PositiveSmallIntegerField(default=0, verbose_name='attempts')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('expires_at', models.DateTimeField(verbose_name='expires at')),
                ('used_at', models.DateTimeField(blank=True, null=True, verbose_name='used at')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='codes', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'one-time code',
                'verbose_name_plural': 'one-time codes',
            },
        ),
        migrations.CreateModel(
            name='CodeTries',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('network', models.CharField(max_length=45)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('code', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tries_by_network', to='accounts.code')),
            ],
            options={
                'verbose_name': 'attempts from a network',
            },
        ),
        migrations.CreateModel(
            name='EmailChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('old_email', models.EmailField(max_length=254)),
                ('new_email', models.EmailField(max_length=254)),
                ('undo_digest', models.CharField(blank=True, db_index=True, max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('confirmed_at', models.DateTimeField(blank=True, null=True)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('expires_at', models.DateTimeField()),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='email_changes', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'change of address',
            },
        ),
        migrations.CreateModel(
            name='Image',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(max_length=32, unique=True)),
                ('kind', models.CharField(choices=[('avatar', 'Avatar'), ('message', 'Message')], max_length=10)),
                ('mime', models.CharField(max_length=20)),
                ('width', models.PositiveIntegerField()),
                ('height', models.PositiveIntegerField()),
                ('size', models.PositiveIntegerField(help_text='bytes')),
                ('blurhash', models.CharField(max_length=100)),
                ('upload_digest', models.CharField(help_text='SHA-256 of the uploaded bytes', max_length=64)),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'picture',
            },
        ),
        migrations.CreateModel(
            name='NetworkLock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('wrong_passwords', models.PositiveIntegerField(default=0, verbose_name='wrong passwords in a row')),
                ('wrong_password_at', models.DateTimeField(blank=True, null=True)),
                ('locked_until', models.DateTimeField(blank=True, null=True, verbose_name='locked until')),
                ('network', models.CharField(max_length=45)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='network_locks', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'login lockout of a known network',
            },
        ),
        migrations.CreateModel(
            name='RateCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('window_starts_at', models.DateTimeField(db_index=True)),
                ('count', models.PositiveIntegerField(default=0)),
            ],
            options={
                'verbose_name': 'rate counter',
                'constraints': [models.UniqueConstraint(fields=('key', 'window_starts_at'), name='ratecount_window')],
            },
        ),
        migrations.CreateModel(
            name='RecoveryCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recovery_codes', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'recovery code',
            },
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('api', 'app or website'), ('admin', 'support pages')], default='api', max_length=10, verbose_name='where')),
                ('sid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('generation', models.PositiveIntegerField(default=1)),
                ('oldest_generation', models.PositiveIntegerField(default=1)),
                ('generation_used_at', models.DateTimeField(blank=True, null=True)),
                ('device_name', models.CharField(blank=True, max_length=200, verbose_name='device')),
                ('ip', models.GenericIPAddressField(blank=True, null=True, verbose_name='IP address')),
                ('user_agent', models.CharField(blank=True, max_length=400, verbose_name='browser or app')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('last_used_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='last used at')),
                ('token_expires_at', models.DateTimeField(verbose_name='token expires at')),
                ('expires_at', models.DateTimeField(verbose_name='expires at')),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='ended at')),
                ('ended_reason', models.CharField(blank=True, max_length=40, verbose_name='why it ended')),
                ('opened_by', models.CharField(blank=True, max_length=60, verbose_name='opened by')),
                ('opened_by_key', models.CharField(blank=True, max_length=8)),
                ('second_password_free_until', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'session',
                'verbose_name_plural': 'sessions',
            },
        ),
        migrations.CreateModel(
            name='OneTimeToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('two_step', 'Two Step'), ('challenge', 'Challenge'), ('action', 'Action'), ('password', 'Password')], max_length=10)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('action', models.CharField(blank=True, max_length=40)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='one_time_tokens', to=settings.AUTH_USER_MODEL)),
                ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='accounts.session')),
            ],
            options={
                'verbose_name': 'one-time token',
            },
        ),
        migrations.CreateModel(
            name='TrustedDevice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('device_name', models.CharField(blank=True, max_length=200, verbose_name='device')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('last_used_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='last used at')),
                ('expires_at', models.DateTimeField(verbose_name='expires at')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trusted_devices', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'trusted device',
                'verbose_name_plural': 'trusted devices',
            },
        ),
        migrations.AddField(
            model_name='session',
            name='trusted_device',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.trusteddevice'),
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(fields=['username_folded'], name='user_search_username'),
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(fields=['name_folded'], name='user_search_name'),
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(fields=['family_first_folded'], name='user_search_family_first'),
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(fields=['name_joined'], name='user_search_joined'),
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(fields=['family_first_joined'], name='user_search_family_joined'),
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(fields=['created_at'], name='user_joined'),
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(condition=models.Q(('blocked_at__isnull', False)), fields=['blocked_at'], name='user_blocked'),
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(condition=models.Q(('locked_until__isnull', False)), fields=['locked_until'], name='user_locked'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('username'), name='user_username_unique'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(condition=models.Q(('external_id__isnull', False)), fields=('external_id',), name='user_external_id_unique'),
        ),
        migrations.AddConstraint(
            model_name='block',
            constraint=models.UniqueConstraint(fields=('blocker', 'blocked'), name='block_once'),
        ),
        migrations.AddConstraint(
            model_name='block',
            constraint=models.CheckConstraint(condition=models.Q(('blocker', models.F('blocked')), _negated=True), name='block_not_oneself'),
        ),
        migrations.AddIndex(
            model_name='code',
            index=models.Index(fields=['expires_at'], name='code_expiry'),
        ),
        migrations.AddConstraint(
            model_name='code',
            constraint=models.UniqueConstraint(fields=('user', 'purpose'), name='code_one_per_purpose'),
        ),
        migrations.AddConstraint(
            model_name='codetries',
            constraint=models.UniqueConstraint(fields=('code', 'digest', 'network'), name='codetries_once'),
        ),
        migrations.AddConstraint(
            model_name='networklock',
            constraint=models.UniqueConstraint(fields=('user', 'network'), name='networklock_once'),
        ),
        migrations.AddConstraint(
            model_name='recoverycode',
            constraint=models.UniqueConstraint(fields=('user', 'digest'), name='recoverycode_unique'),
        ),
        migrations.AddIndex(
            model_name='onetimetoken',
            index=models.Index(fields=['expires_at'], name='onetimetoken_expiry'),
        ),
        migrations.AddIndex(
            model_name='session',
            index=models.Index(fields=['user', '-last_used_at'], name='session_user_recent'),
        ),
        migrations.AddIndex(
            model_name='session',
            index=models.Index(fields=['token_expires_at'], name='session_expiry'),
        ),
        migrations.AddIndex(
            model_name='session',
            index=models.Index(condition=models.Q(('opened_by', ''), _negated=True), fields=['opened_by'], name='session_opened_by'),
        ),
        migrations.RunPython(use_byte_order, migrations.RunPython.noop),
        migrations.RunPython(make_address_no_key, migrations.RunPython.noop),
    ]
